// Attention whose probabilities never exist as a tensor.
#ifndef NAPKIN_IR_OPS_ATTENTION
#define NAPKIN_IR_OPS_ATTENTION

include "ir/ops/Base.td"

// Constraints and attributes that both ops share:
//
// C1: q is [lead..., h, s, e], k [lead..., g, t, e], v [lead..., g, t, f]; h = g * r. C2: one element type.
// C3: query i sees key j where i + from <= j <= i + to (no bound where the attribute is absent), and every
// query sees at least one key. C4: 0 <= rate < 1; a rate above 0 comes with a key and a site, rate 0 without.
//
// Blocks of 64 queries and 64 keys (`AttentionBlocks`): a block of keys of which no query of the block
// sees any is skipped; in any other, all pairs are computed. With p[i, j] = exp(score - lse[i]), kept where the
// uniform number of element [.., h, s, t] = (head, i, j) of a random_uniform of this site is at least `rate`.

def AttentionOp : Nap_Pure<"attention", HasAdjoint> {
  let summary = "softmax(scale * q k^T) v in one pass over the keys; lse is log(sum(exp(scores)))";
  let description = [{
    Query head n uses key head n / r. Milakov and Gimelshein, arXiv 1805.02867; Dao et al., arXiv 2205.14135.
    C1 to C4 as the file says. C5: out is [lead..., h, s, f] of q's element type, lse [lead..., h, s] of the type that
    sums are kept in. Scores are one chain of fused multiply-adds of scale * q and k; an element of out is one chain
    over the keys in rising order, rescaled after each block by exp(old maximum - new maximum), divided by the sum
    last. A gradient passes through out, not through lse.
  }];
  let arguments = (ins NapFloatTensor:$q, NapFloatTensor:$k, NapFloatTensor:$v, Optional<NapRandomKey>:$key,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$from, OptionalAttr<I64Attr>:$to,
                       DefaultValuedAttr<F64Attr, "0.0">:$rate, OptionalAttr<I32Attr>:$site);
  let results = (outs NapFloatTensor:$out, NapFloatTensor:$lse);
  let assemblyFormat = [{
    $q `,` $k `,` $v (`key` $key^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def AttentionBackwardOp : Nap_Pure<"attention_backward"> {
  let summary = "the adjoint of attention: probabilities are computed again from q, k and lse";
  let description = [{
    C1 to C4 as the file says. C5: out and dout have out's type, lse that of lse. C6: dq, dk, dv have the types of
    q, k, v. With delta[i] = sum over f of dout * out, dp = dout v^T and ds = p * (dp - delta): dv = p^T dout,
    dq = scale * ds k, dk = ds^T (scale * q). Blocks of queries follow each other, head after head, and inside one the
    blocks of keys: each gradient is one chain in that order.
  }];
  let arguments = (ins NapFloatTensor:$q, NapFloatTensor:$k, NapFloatTensor:$v, NapFloatTensor:$out,
                       NapFloatTensor:$lse, NapFloatTensor:$dout, Optional<NapRandomKey>:$key,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$from, OptionalAttr<I64Attr>:$to,
                       DefaultValuedAttr<F64Attr, "0.0">:$rate, OptionalAttr<I32Attr>:$site);
  let results = (outs NapFloatTensor:$dq, NapFloatTensor:$dk, NapFloatTensor:$dv);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $out `,` $lse `,` $dout (`key` $key^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif
