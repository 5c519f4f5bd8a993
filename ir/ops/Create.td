// Tensors from nothing: constants, index ramps, random draws.
#ifndef NAPKIN_IR_OPS_CREATE
#define NAPKIN_IR_OPS_CREATE

include "ir/ops/Base.td"

def ConstantOp : Nap_Pure<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "one value in every element (a splat), or a small list";
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NapTensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
}

def IotaOp : Nap_Pure<"iota"> {
  let summary = "0, 1, 2, ... along the only axis";
  let description = [{ C1: the result has one axis. }];
  let results = (outs NapNumberTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

class Nap_Random<string mnemonic> : Nap_Pure<mnemonic> {
  let description = [{
    Philox4x32-10 (Salmon et al., SC 2011): key = seed, counter = (element/4 low 32 bits, element/4 high 16
    bits | micro-batch 16 bits, step, site), word = element mod 4, element in row-major order of the whole
    result. Two ops with one key and one site give the same bits; two sites are never merged.
  }];
  let arguments = (ins NapRandomKey:$key, I32Attr:$site);
  let results = (outs NapFloatTensor:$result);
  let assemblyFormat = "$key `site` $site attr-dict `:` type($key) `->` type($result)";
}
def RandomUniformOp : Nap_Random<"random_uniform"> { let summary = "uniform in [0, 1): (word >> 8) * 2^-24"; }
def RandomNormalOp : Nap_Random<"random_normal"> {
  let summary = "standard normal by Box and Muller: elements 0 and 1 of four from words 0 and 1, 2 and 3 from words 2 and 3";
  // With u and v the uniforms of the two words: radius = sqrt(-2 log(1 - u)), angle = 2 pi v; the
  // even element is radius * cos(angle), the odd one radius * sin(angle).
}

#endif
