"""Holds Napkin's counts against published figures.

    check.py FAMILY...   vectors.json's entries whose names begin with FAMILY.

Models are built from model files (Inputs/, examples/) or from the IR, counted by `napkin report` and by
nap-annotate-cost; papers' formulas over published sizes by `napkin math`. A value agrees within its
`rel_tol`, exactly at 0; of a trap it is `right_value` that must come out. Prints "ok" and a number.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from counting import (ACTIVATION, HERE, attention, by_op, convolution, count, counters_of, days, declared, dense, device, devices, einsum, emit, flops, forward,
                      forward_counters, math, mfu, model_flops, parameters, part, product_as_sum, report, run, step, summed, t)
from lists import list_value

# Families --------------------------------------------------------------------------------------------

def gpt(c, batch=1):
    return dict(layers=c["L"], d=c["d"], heads=c.get("H", c["d"] // 64), vocab=c["V"], context=c["T"], batch=batch)


def llama(c):
    return dict(vocab=c["V"], layers=c["L"], d=c["d"], heads=c["H"], kv_heads=c.get("kv_heads", c["H"]), hidden=c["ffn"],
                tied=str(c["tied"]).lower(), qkv_bias=str(c.get("qkv_bias", False)).lower())


RESNETS = {"resnet18": (2, 2, 2, 2, "false"), "resnet50": (3, 4, 6, 3, "true"), "resnet101": (3, 4, 23, 3, "true"),
           "resnet152": (3, 8, 36, 3, "true")}


def vision(model, **more):
    if model in RESNETS:
        b1, b2, b3, b4, wide = RESNETS[model]
        return forward("resnet", b1=b1, b2=b2, b3=b3, b4=b4, wide=wide, **more)
    return forward({"vgg16": "vgg", "vit_b_16": "vit"}.get(model, model), **more)


def params(name, c):
    arch = c["arch"]
    if arch == "gpt2" and not c["bias"]:
        sizes = dict(layers=c["L"], d=c["d"], vocab=c["V"], context=c["T"])
        prefix = {"tok_embedding": "wte", "ln_f": "ln_f", "transformer": "", "mlp_block": "h.0."}[c["part"]]
        if c["part"] == "mlp_block":
            return parameters("nanogpt", "h.0.c_", **sizes) + parameters("nanogpt", "h.0.ln_2", **sizes) + \
                parameters("nanogpt", "h.0.mlp", **sizes)
        if c["part"] == "transformer":
            return parameters("nanogpt", "h.", **sizes)
        return parameters("nanogpt", prefix, **sizes)
    if arch == "gpt2":
        return forward("gpt2", **gpt(c))["parameters"]
    if arch == "gpt":
        return parameters("gpt2", without="ln_f", **gpt(c))
    if arch in ("llama", "qwen2"):
        return forward("decoder", **llama(c))["parameters"]
    if arch == "deepseek_v3":
        sizes = dict(vocab=c["V"], layers=c["L"], dense=c["dense_layers"], d=c["d"], heads=c["H"], q_rank=c["q_lora"], kv_rank=c["kv_lora"], nope=c["qk_nope"],
                     roped=c["qk_rope"], value=c["v_head"], hidden=c["ffn_dense"], expert=c["moe_ffn"], experts=c["experts"], taken=c["topk"])
        return parameters("deepseek", without="embed_tokens", **sizes)
    if arch == "bert":
        return forward("bert", vocab=c["V"])["parameters"]
    return vision(arch)["parameters"]


def lec2(name, c):
    if name == "days_70b_15T_1024_h100":
        return days(parameters=c["N"], tokens=c["D"], devices=c["gpus"], peak=c["peak"], mfu=c["mfu"])
    if name == "tensor_4x8_fp32":
        return step("products", first=4, second=8)["rows"][0]["memory"]["parameters"]
    if name == "gpt3_ff_matrix_fp32":
        return step("products", first=49152, second=12288)["rows"][0]["memory"]["parameters"]
    if name == "flops_8xh100_2weeks":
        # What a power of ten takes says what is done in a day.
        return 1e24 * c["days"] / days(flops=1e24, devices=c["gpus"], peak=c["peak"], mfu=c["mfu"])
    if name == "linear_fwd_gpu":
        return dense(forward("products", batch=c["B"], first=c["D"], second=c["K"]))
    if name.startswith("two_layer_bwd"):
        r = step("products", batch=c["B"], first=c["D"], second=c["D"], last=c["K"],
                 gradient=str(c["x_requires_grad"]).lower())
        return model_flops(r) - dense(r)
    if name.startswith("mlp_d256_layer"):
        r = step("products", batch=c["B"], first=c["D"], second=c["D"], gradient="true")
        return dense(r) if name.endswith("fwd") else model_flops(r) - dense(r)
    if name == "intensity_relu":
        x = t(c["n"], dtype="bf16")
        ops, _ = count(f"  %z = nap.constant dense<0.0> : {x}\n  %r = nap.maximum %x, %z : {x}", f"%x: {x}", (x, "%r"))
        return [summed(counters, "cmp") / least for op, counters, least in ops if op == "maximum"][0]
    if name == "intensity_gelu":
        # The lecture's 20 FLOPs an element, over what the kernel moves by Napkin; Napkin's own count is 9. No other kernel
        # does as much a byte: the products have two columns, and a kernel of theirs 2 FLOPs a byte at most.
        text = ACTIVATION.format(m=c["n"] // 1024, n=1024, made="gelu", dtype=c["dtype"])
        return max(by_op(text, "all", "cs336", "--after=nap-fuse", "--precision=pure(bf16)")[1])
    if name == "intensity_matvec_1024":
        return product_as_sum(c["n"], 1, c["n"])
    if name == "intensity_matmul_1024":
        return product_as_sum(c["M"], c["N"], c["K"])
    if name == "relu_mfu_roofline_h100":
        return math("bound", r"MFU at most (\S+) %", flops=1, bytes=4, peak=c["peak"], bandwidth=c["bw"]) / 100
    if name == "review_q_intensity":
        return math("bound", r"device's ([\d.]+) FLOP/B", flops=1e12, bytes=1e9, peak=c["peak"], bandwidth=c["bw"])
    if name == "gpt3_flops":
        return flops(parameters=c["N"], tokens=c["D"])
    if name == "optimizer_2026.param_bytes":
        r = step("chain", ("--precision=pure(bf16)",), d=c["D"], layers=c["L"])
        return r["rows"][0]["memory"]["parameters"] - 2 * c["B"] * c["D"]
    if name == "optimizer_2026.grad_bytes":
        r = step("chain", ("--precision=pure(bf16)",), d=c["D"], layers=c["L"])
        return max(row["memory"]["micro_gradients"] for row in r["rows"]) - 2 * c["B"] * c["D"]
    if name == "optimizer_2026.flops":
        return model_flops(step("chain", d=c["D"], layers=c["L"], batch=c["B"]))
    if name == "cruncher_2025.flops":
        return model_flops(step("chain", d=c["D"], layers=c["L"], last=1, batch=c["B"]))
    raise KeyError(name)


def a1(name, c):
    sizes = llama(c)
    r = forward("decoder", seq=c["T"], batch=c.get("B", 1), **sizes)
    what = name.split(".")[-1]
    if what == "params":
        return r["parameters"]
    if what == "param_bytes_fp32":
        return r["rows"][0]["memory"]["parameters"]
    if what == "attn_proj":
        return part(r, "q_proj", "k_proj", "v_proj", "o_proj")
    if what == "qk":
        return part(r, "attention scores")
    if what == "ffn":
        return part(r, "gate_proj", "up_proj", "down_proj")
    if what == "lm_head":
        return part(r, "lm_head")
    if what == "state_bytes":
        memory = [row["memory"] for row in step("decoder", **sizes)["rows"]]
        return memory[0]["parameters"] + memory[-1]["states"] + max(m["micro_gradients"] for m in memory)
    return r["presets"]["cs336"]


def nanogpt(name, c):
    if name == "days_300B_8a100":
        return days(parameters=c["N"], tokens=c["D"], devices=c["gpus"], peak=c["peak"], mfu=c["mfu"])
    sizes = dict(layers=c["L"], d=c["d"], heads=c["H"], vocab=c["V"], context=c["T"], batch=c["B"])
    what = name.split(".")[-1]
    r = forward("nanogpt", **sizes)
    if what == "attention_proj":
        return part(r, "attn.c_proj") // c["L"]
    if what == "mlp_ffw2":
        return part(r, "mlp.c_proj") // c["L"]
    if what == "mlp":
        return part(r, "mlp.c_fc", "mlp.c_proj") // c["L"]
    if what == "dense":
        return part(r, "wte")
    if what == "forward_total":
        return dense(r)
    if what == "backward_total":
        return model_flops(step("nanogpt", **sizes)) - dense(r)
    return r["presets"]["nanogpt"]


def chinchilla(name, c):
    count = forward("gpt2", **gpt(c))["presets"]["chinchilla_a4"]
    return count if name.endswith("flops_train_seq") else count / (6 * c["N"] * c["T"])


def palm_flags(c):
    heads, size = (c["H"], c["Q"]) if "Q" in c else (1, c["d"])
    return dict(preset="palm", parameters=c["N"], layers=c["L"], heads=heads, head_size=size, context=c["T"], tokens=1)


def palm(name, c):
    if name.endswith("model_tflop_per_token"):
        return flops(**palm_flags(c))
    return mfu(**palm_flags(c), tokens_per_second=c["tokens_per_s"], devices=c.get("chips", c.get("gpus")), peak=c["peak"])


def megatron21(name, c):
    if "days" in name or ".t2" in name or name.startswith("t2"):
        return days(flops_per_parameter=8, parameters=c["N"], tokens=c["D"], devices=c["gpus"], peak=c["X"], mfu=1)
    r = forward("gpt2", **gpt(c, batch=c["B"]))
    return r["parameters"] if name.endswith("params") else r["presets"]["megatron21"]


def korthikanti(name, c):
    if name.endswith("selective_flop_overhead"):
        sizes = dict(layers=1, width=c["d"], heads=c["H"], context=c["T"])
        return flops(preset="korthikanti_selective", **sizes) / flops(preset="korthikanti", **sizes) - 1
    r = forward("gpt2", layers=c["L"], d=c["d"], heads=c["H"], vocab=c["V"], context=c["T"], batch=c["global_batch"])
    if name.endswith("hfu"):
        return mfu(flops=r["presets"]["korthikanti_selective"], seconds=c["iter_s"], devices=c["gpus"], peak=c["peak"])
    return r["presets"]["korthikanti_selective" if name.endswith("selective") else "korthikanti"]


def conv(name, c):
    if name == "einsum_no_contraction":
        return summed(einsum("i,j->ij", t(10), t(30), t(10, 30))[0], "mm", "vec")
    if name == "einsum_diag_sum":
        ops, _ = count(f"  %d = nap.diagonal %x axes 0, 1 : {t(10, 10)} -> {t(10)}\n"
                       f"  %r = nap.reduce sum %d [0] : {t(10)} -> {t()}", f"%x: {t(10, 10)}", (t(), "%r"))
        return sum(summed(counters, "mm", "vec") for _, counters, _ in ops)
    if name == "einsum_transpose":
        return summed(einsum("ij->ji", t(10, 30), t(30, 10))[0], "mm", "vec")
    if name.startswith("attn_gpt2_small_layer"):
        return attention(c["B"], c["H"], c["T"], c["T"], c["D"], c["D"], to=0)[name.split(".")[-1]]
    if name.endswith("_row"):
        what = {"softmax": "softmax", "layernorm": "layer_norm", "rmsnorm": "rms_norm"}[c["op"]]
        whole, bare = (forward_counters("row", n=c["n"], what=f'"{w}"')["vec"] for w in (what, "none"))
        return whole - bare
    if name.startswith("embedding_gather"):
        table, ids, out = t(c["V"], c["d"], dtype="bf16"), t(c["tokens"], dtype="i32"), t(c["tokens"], c["d"], dtype="bf16")
        ops, _ = count(f"  %r = nap.embed %t, %i : {table}, {ids} -> {out}", f"%t: {table}, %i: {ids}", (out, "%r"))
        return ops[0][2] if "bytes" in name else summed(ops[0][1], "mm", "vec", "cmp", "trn")
    if name == "embedding_scatter_add_bwd":
        rows, ids, out = t(c["tokens"], c["d"]), t(c["tokens"], dtype="i32"), t(50257, c["d"])
        ops, _ = count(f"  %r = nap.scatter_add %g, %i : {rows}, {ids} -> {out}", f"%g: {rows}, %i: {ids}", (out, "%r"))
        return ops[0][1]["vec"]
    if name == "sgd_update":
        # An optimizer without decay; the prelude's, whose decay a run may set, does 4 a parameter.
        return counters_of(emit(HERE / "Inputs" / "plain.nap", (("n", c["n"]),), "--nap-annotate-cost"), "update")["vec"]
    if name == "adamw_bytes_mixed":
        return adamw_kernel(c["n"])
    if name == "contiguous_copy_bf16":
        x, y = t(10, 100, dtype="bf16"), t(100, 10, dtype="bf16")
        ops, _ = count(f"  %p = nap.permute %x [1, 0] : {x} -> {y}\n  %r = nap.stop_gradient %p : {y}", f"%x: {x}", (y, "%r"))
        return ops[-1][2]
    if name == "gemm_4096_bf16.bytes":
        return einsum("ij,jk->ik", *[t(4096, 4096, dtype="bf16")] * 3)[1]
    return einsum("ij,jk->ik", t(c["M"], c["K"]), t(c["K"], c["N"]), t(c["M"], c["N"]))[0]["mm"]


def small(name, c):
    """Families of a few single ops."""
    if name == "torchfc.bmm":
        return einsum("bij,bjk->bik", t(3, 4, 5), t(3, 5, 6), t(3, 4, 6))[0]["mm"]
    if name == "torchfc.conv2d":
        return convolution(2, 3, 6, 6, 6, 4, 1)[0][-1][1]["mm"]
    if name == "torchfc.resnet18_fwd_bwd":
        b1, b2, b3, b4, wide = RESNETS["resnet18"]
        return model_flops(step("resnet", b1=b1, b2=b2, b3=b3, b4=b4, wide=wide, gradient="true"))
    if name == "torchfc.resnet18_conv1_group_fwd":
        return part(vision("resnet18"), "layer1.N.conv1", "layer1.N.conv2")
    if name == "torchfc.sdpa_rect":
        return attention(c["B"], c["H"], c["Sq"], c["Sk"], c["D"], c["D"])["dense"]
    if name == "torchfc.sdpa_flash_fwd_bwd":
        return flops(preset="torch", layers=1, heads=c["H"], head_size=c["D"], ffn=0, context=c["Sk"], tokens=c["B"] * c["Sq"])
    if name == "flashattn.flops_fwd_dense":
        return attention(c["B"], c["H"], c["T"], c["T"], c["D"], c["D"], to=0)["dense"]
    if name == "flashattn.flops_fwd_bwd_standard":
        return attention(c["B"], c["H"], c["T"], c["T"], c["D"], c["D"], to=0, backward=True)["dense"]
    if name == "flashattn.flops_fwd_bwd_flash":
        return flops(preset="torch", layers=1, heads=c["H"], head_size=c["D"], ffn=0, context=c["T"], tokens=c["B"] * c["T"])
    if name == "xla.conv_same_4x4_k2":
        return convolution(1, 1, 4, 4, 2, 2, 0, high=1)[1]["exact"]
    if name == "xla.conv_extreme_pad.flops":
        return extreme_convolution(512 * 1024)
    if name == "torchfc.variety":
        # The shapes of PyTorch's test: mm, addmm and matmul of matrices, an einsum, a linear layer.
        return sum(einsum("ij,jk->ik", t(m, k), t(k, n), t(m, n))[0]["mm"]
                   for m, k, n in ((4, 5, 6), (4, 5, 6), (5, 6, 7), (6, 7, 8), (8, 9, 10)))
    if name == "torchfc.resnet18_conv1_group_bwd":
        # A step without the blocks of that stage, whose input has as many channels as their result.
        b1, b2, b3, b4, wide = RESNETS["resnet18"]
        whole, without = (model_flops(step("resnet", b1=b, b2=b2, b3=b3, b4=b4, wide=wide, gradient="true")) for b in (b1, 0))
        return whole - without - part(vision("resnet18"), "layer1.N.conv1", "layer1.N.conv2")
    if name == "torch_profiler.resnet18_10class_fwd":
        # That tool counts an addition for the counter of each batch norm: one a running mean.
        return dense(vision("resnet18", classes=c["classes"])) + len(re.findall(r'nap\.declare +buffer @"?[^" ]*running_mean', emit("resnet", ())))
    if name.endswith("deepspeed.addmm"):
        # 4 x 8 x 5 multiply-adds and an addition an element: no other sizes give both figures.
        m, k, n = 4, 8, 5
        x, y, z = t(m, k), t(k, n), t(m, n)
        ops, _ = count(f'  %p = nap.einsum "ij,jk->ik" %x, %y : ({x}, {y}) -> {z}\n  %r = nap.add %b, %p : {z}',
                       f"%x: {x}, %y: {y}, %b: {z}", (z, "%r"))
        return sum(summed(counters, "mm", "vec") for _, counters, _ in ops)
    if name.startswith("xla.matmul"):
        counters, least = einsum("ij,jk->ik", t(10, 5), t(5, 30), t(10, 30))
        return counters["mm"] if name.endswith("flops") else least
    if name == "xla.dot_general_batch.bytes":
        return einsum("abc,bcd->bad", t(10, 5, 5), t(5, 5, 30), t(5, 10, 30))[1]
    if name == "xla.map_exp.transcendentals":
        ops, _ = count(f"  %h = nap.constant dense<0.5> : {t(10)}\n  %s = nap.add %x, %h : {t(10)}\n"
                       f"  %r = nap.exp %s : {t(10)}", f"%x: {t(10)}", (t(10), "%r"))
        return sum(summed(counters, "trn") for _, counters, _ in ops)
    if name.startswith("jax."):
        counters, least = einsum("ij,jk->ik", *[t(1000, 1000)] * 3)
        return counters["mm"] if name.endswith("flops") else least
    if name == "deepspeed.mat_vec":
        return einsum("ij,j->i", t(4, 8), t(8), t(4))[0]["mm"] // 2
    if name == "issue.tpp_mlir_flops":
        return einsum("ij,jk->ik", t(c["M"], c["K"]), t(c["K"], c["N"]), t(c["M"], c["N"]))[0]["mm"]
    if name == "issue.calflops_8b_macs":
        # Llama 3 8B, whose 8.03e9 parameters make this of 4096 tokens and of no other power of two. That tool saw no products inside attention.
        r = forward("decoder", vocab=128256, layers=32, d=4096, heads=32, kv_heads=8, hidden=14336, tied="false", seq=4096, batch=1)
        return dense(r) - part(r, "attention scores", "attention values")
    if name.startswith("einsum."):
        if name.endswith("naive"):
            return loop_nest(c["eq"], *([c["dim"]] * 8 if "dim" in c else (c[letter] for letter in "ijkl")))
        if name == "einsum.outer_chain.optimal":
            return summed(einsum("ea,fb,abcd,gc,hd->efgh", *[t(10, 10)] * 2, t(10, 10, 10, 10), *[t(10, 10)] * 2,
                                 t(10, 10, 10, 10))[0], "mm", "vec")
        i, j, k, l = (c[letter] for letter in "ijkl")
        if name == "einsum.chain.optimal":
            return einsum("ij,jk,kl->il", t(i, j), t(j, k), t(k, l), t(i, l))[0]["mm"]
        return einsum("jk,kl->jl", t(j, k), t(k, l), t(j, l))[0]["mm"] + einsum("ij,jl->il", t(i, j), t(j, l), t(i, l))[0]["mm"]
    if name.startswith("causal."):
        counts = attention(1, 1, c["Sq"], c["Sk"], 1, 1, to=c["Sk"] - c["Sq"])
        return counts["exact"] // 4
    raise KeyError(name)


def extreme_convolution(large):
    """XLA's test of a convolution of which one place alone is inside: image and kernel of `large`, both dilated by it, padded and strided by one less."""
    padded, windows = t(1, 1, 2 * (large - 1) + (large - 1) * large + 1), t(1, 1, 3, large)
    x, y = t(1, 1, large), t(1, 1, 3)
    edge = large - 1
    body = f"""  %p = nap.pad %x low [0, 0, {edge}] high [0, 0, {edge}] inner [0, 0, {edge}] with 0.0 : {x} -> {padded}
  %w = nap.window %p sizes [{large}] strides [{edge}] dilations [{large}] : {padded} -> {windows}
  %r = nap.einsum "bciu,ocu->boi" %w, %f : ({windows}, {x}) -> {y}"""
    return count(body, f"%x: {x}, %f: {x}")[1]["exact"]


def loop_nest(pattern, *sizes):
    """What --explain says of one loop nest over all letters of a model's einsum."""
    groups = pattern.replace("->", ",").split(",")
    letters = "".join(sorted(set("".join(groups))))
    size = dict(zip(letters, sizes))
    shapes = [[size[letter] for letter in group] for group in groups[:-1]]
    lines = [f"  param p{i} : {shape} = zeros" for i, shape in enumerate(shapes)]
    spaced = ", ".join(" ".join(group) for group in groups[:-1]) + " -> " + " ".join(groups[-1])
    lines += [f'  y = einsum({", ".join(f"p{i}" for i in range(len(shapes)))}, "{spaced}")', "  loss = sum(y)", "  train { optimizer = sgd(lr = 0.1) }"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "chain.nap"
        file.write_text("\n".join(["model chain() {", *lines, "}"]) + "\n")
        text = run("napkin", "report", str(file), "--after=import", "--explain=einsum")
    return int(re.search(r"in one loop nest ([\d,]+)", text)[1].replace(",", ""))


def sums(name, c):
    """Families of rules of thumb, and of tables."""
    if name.startswith("gpt3_d1."):
        return flops(parameters=c["N"], tokens=c["D"], flops_per_parameter=c["flops_per_param_per_token"])
    if name.startswith("scalingbook.roofline"):
        return math("bound", r"device's ([\d.]+) FLOP/B", flops=1, bytes=1, peak=c["peak"], bandwidth=c["bw"])
    if name == "scalingbook.llama3_70b_total":
        return flops(parameters=c["N"], tokens=c["D"])
    if name == "scalingbook.llama3_70b_days_8960_v5p":
        return days(parameters=c["N"], tokens=c["D"], devices=c["chips"], peak=c["peak"], mfu=c["mfu"])
    if name == "scalingbook.deepseek_v3_mfu":
        return mfu(parameters=c["active"], tokens=c["D"], seconds=c["gpu_hours"] * 3600, peak=c["peak"])
    if name.startswith("llmfoundry."):
        return mfu(**palm_flags(c), tokens_per_second=c["tokens_per_s_per_gpu"], peak=c["peak"])
    if name.startswith("torchtitan."):
        r = forward("decoder", vocab=128256, layers=32, d=4096, heads=32, kv_heads=8, hidden=14336, seq=c["T"], batch=1)
        each = r["presets"]["torchtitan"] / r["rows_per_step"]
        return mfu(flops=each * c["tokens_per_s_per_gpu"], seconds=1, peak=c["peak"])
    if name == "zero.7_5b_64.none":
        # A terabyte over the model that it holds is a parameter's share.
        return c["N"] * 1e12 / math("largest", r"parameter: (\S+) parameters", memory=1e12) / 1e9
    if name == "zero.7_5b_64.pos_g_p":
        return c["N"] * 1e12 / math("largest", r"parameter: (\S+) parameters", memory=1e12, devices=c["DP"]) / 1e9
    if name.startswith("cookbook."):
        sizes = dict(layers=c["L"], width=c["d"], heads=1, context=c["T"], vocab=c["V"], tokens=c["tokens"])
        return flops(preset="megatron21" if c["checkpoint"] else "korthikanti", **sizes)
    if name == "accelerate.bert_base_cased_adam_gib":
        memory = [row["memory"] for row in step("bert", vocab=28996)["rows"]]
        return (memory[0]["parameters"] + memory[-1]["states"] + max(m["micro_gradients"] for m in memory)) / 2**30
    if name.startswith("llmc.d12.adam"):
        memory = forward("gpt2", layers=c["L"], d=c["d"], heads=c["H"], vocab=c["Vp"], context=c["T"])["rows"][-1]["memory"]
        return memory["states"] // 2 // 2**20
    if name == "calflops.roberta_wwm":
        return dense(forward("bert", vocab=21128, batch=c["B"], seq=c["T"]))
    if name.startswith("vision."):
        more = {"first": "true"} if "v1:" in c.get("variant", "") else {}
        r = vision(c["model"], **more)
        return r["presets"]["mac"] if name.endswith("macs") else dense(r)
    if name.startswith("mamf."):
        return devices()[c["device"]]["best"]
    if name.startswith("peak_from_clock."):
        return devices()[{"a100_sxm": "a100_sxm_80"}.get(name.split(".")[1], name.split(".")[1])]["derived"]
    raise KeyError(name)


def adamw_kernel(n):
    """AdamW of n bf16 weights with their f32 master copy, as one kernel: its least bytes."""
    x, half = t(n), t(n, dtype="bf16")
    lines = []

    def op(name, text):
        lines.append(f"  %{name} = nap.{text}")

    for name, value in (("b1", 0.9), ("c1", 0.1), ("b2", 0.95), ("c2", 0.05), ("eps", "1.0e-8"), ("lr", 0.001), ("decay", 0.99)):
        op(name, f"constant dense<{value}> : {x}")
    op("g", f"cast %grad : {half} -> {x}")
    for name, text in (("m1", "mul %m, %b1"), ("g1", "mul %g, %c1"), ("new_m", "add %m1, %g1"), ("v1", "mul %v, %b2"), ("gg", "mul %g, %g"),
                       ("g2", "mul %gg, %c2"), ("new_v", "add %v1, %g2"), ("root", "sqrt %new_v"), ("safe", "add %root, %eps"),
                       ("way", "div %new_m, %safe"), ("step", "mul %way, %lr"), ("kept", "mul %master, %decay"), ("new", "sub %kept, %step")):
        op(name, f"{text} : {x}")
    op("weight", f"cast %new : {x} -> {half}")
    results = f"{half}, {x}, {x}, {x}"
    ops, _ = count("\n".join(lines), f"%grad: {half}, %master: {x}, %m: {x}, %v: {x}", (f"({results})", "%weight, %new, %new_m, %new_v"), ("--nap-fuse",))
    (_, _, least), = ops
    return least


def trap(name, c):
    if name == "deepspeed.addmm":
        return small(name, c)
    if name in ("gpt2_large_paper_name", "gpt2_xl_paper_name"):
        layers, width, heads = {"large": (36, 1280, 20), "xl": (48, 1600, 25)}[c["model"]]
        return forward("gpt2", layers=layers, d=width, heads=heads)["parameters"]
    if name == "thop_early_resnet50":
        return vision("resnet50")["presets"]["mac"]
    if name == "calflops_roberta_3x":
        return dense(forward("bert", vocab=21128, batch=c["B"], seq=c["T"]))
    if name == "megatron_causal_121pct":
        result = subprocess.run(["napkin", "math", "mfu", f"--flops={c['tflops'] * c['factor']}e12", "--seconds=1",
                                 f"--peak={c['peak']}e12"], capture_output=True, text=True)
        return None if result.returncode and "is above 1" in result.stderr else 1.21
    if name == "llmq_h200_sparse":
        return devices()["h200_sxm"]["peaks"]["bf16"]
    if name == "torchtitan_l40s":
        # At a terabyte a second the ridge is the peak in tera.
        return math("bound", r"device's (\S+) FLOP/B", device="L40S", bandwidth=1e12, flops=1, bytes=1) * 1e12
    raise KeyError(name)


FAMILIES = {"params": params, "lec2": lec2, "a1": a1, "nanogpt": nanogpt, "chinchilla": chinchilla, "palm": palm,
            "megatron21": megatron21, "korthikanti": korthikanti, "conv": conv, "trap": trap}


def value_of(entry):
    family, rest = entry["name"].split(".", 1)
    listed = list_value(entry["name"], entry["config"])
    if listed is not None:
        return listed
    if family == "device":
        return device(entry["name"], entry["config"])
    if family in FAMILIES:
        return FAMILIES[family](rest, entry["config"])
    try:
        return small(entry["name"], entry["config"])
    except KeyError:
        return sums(entry["name"], entry["config"])


def main():
    entries = json.loads((HERE / "vectors.json").read_text())
    wrong, right = [], 0
    for entry in entries:
        if not any(entry["name"].startswith(family) for family in sys.argv[1:]):
            continue
        wanted = entry["right_value"] if "right_value" in entry else entry["value"]
        found = value_of(entry)
        if wanted is None or found is None:
            agrees = found is wanted
        else:
            agrees = abs(found - wanted) <= entry["rel_tol"] * abs(wanted) * (1 + 1e-9)
        right += agrees
        if not agrees:
            wrong.append(f"{entry['name']}: {found}, wanted {wanted} within {entry['rel_tol']}")
    print(*wrong, f"{'wrong' if wrong else 'ok'} {right}", sep="\n")


if __name__ == "__main__":
    main()
