"""Published memory: lists of activations, states by type, and hardware FLOPs of a step that computes again; by `napkin math`, with N from the IR."""
import re

from counting import flops, forward, math, mfu, run


def memory(line, **flags):
    """The bytes of a line of `napkin math memory`."""
    return math("memory", rf"^  {line} +([\d,]+)", **flags)


def layer(c, **flags):
    """Korthikanti et al.'s bytes of one layer."""
    return memory("= a layer", preset="korthikanti", width=c["d"], heads=c["H"], context=c["T"], batch=c.get("micro_batch", 1), **flags)


def korthikanti(name, c):
    if ".act_layer_" in name:
        what = name.split(".act_layer_")[1]
        flags = {"tensor_parallel": c["TP"]} if what.startswith("tp") else {}
        if "_sp" in what:
            flags["sequence_parallel"] = ""
        if "selective" in what:
            flags["recompute"] = "selective"
        return layer(c, recompute="full") if what == "full" else layer(c, **flags)
    if name.endswith("5as_over_h"):
        return (layer(c) / layer(c, recompute="selective") - 1) * 34
    if name.endswith("selective_saving"):
        return 1 - layer(c, recompute="selective") / layer(c)
    if name == "semantics.flash_no_score_term":
        # A fused kernel keeps no probabilities, as if they were computed again.
        return layer(c, recompute="selective") / (c["T"] * c["d"])
    if name == "trap.korthikanti_22b_extra_term":
        sizes = dict(preset="korthikanti", width=6144, heads=64, context=2048, batch=4, layers=c["L"], vocab=51200)
        once = memory("= once", **sizes)
        return once / (memory("= activations of .*?", **sizes) - once)
    return None


def llm_c(name, c):
    sizes = dict(preset="llm.c", layers=c["L"], width=c["d"], heads=c["H"], context=c["T"], batch=c["B"], vocab=c["Vp"])
    found = memory("= activations of .*?", **sizes, recompute=3 if "MLP" in str(c["recompute"]) else c["recompute"])
    if name.endswith("activation_bytes"):
        return found
    if name.endswith("activation_mib_r3"):
        return found // 2**20
    # Its log cuts both: the MiB, and those of a sequence.
    return found // 2**20 // c["B"]


def lecture(name, c):
    """State and activations of L products of D x D: gradients and AdaGrad's sums beside the weights."""
    wide = 4 if c.get("dtype", "f32") == "f32" else 2
    sizes = dict(preset="lecture", layers=c["L"], width=c["D"], batch=c["B"], dtype=c.get("dtype", "f32"))
    if name.endswith("activations"):
        return memory("= activations of .*?", **sizes) / wide
    elements = c["L"] * c["D"] ** 2 + (c["D"] if "cruncher" in name else 0)
    return memory("= together", **sizes, parameters=elements, bytes_per_parameter=2 * wide + 4)


def llm_q(name, c):
    """Weights in f8 beside an embedding in bf16; shares of the peaks of several types add up."""
    rest, table = c["params"] - c["embedding"], c["embedding"]

    def state(elements, each):
        return memory("= together", parameters=elements, bytes_per_parameter=each) / 2**20

    if name.endswith("adam_mib"):
        return state(c["params"], 2) // 1
    if name.endswith("master_mib"):
        return state(rest, 2)
    if name.endswith("weights_mib"):
        return state(rest, 1) + state(table, 2)
    # Products of layers in f8, the head's and causal attention's, half of all pairs, in bf16.
    parts = (("f8", 6 * rest), ("bf16", 6 * table), ("bf16", 6 * c["L"] * c["T"] * c["d_att"]))
    return sum(mfu(flops=each * c["tokens_per_s"], seconds=1, device="rtx4090", dtype=dtype) for dtype, each in parts)


def again(name, c):
    """Hardware FLOPs: PaLM's rule with attention, or the whole forward pass, once more."""
    heads, size = (c["H"], c["Q"]) if "Q" in c else (1, c["d"])
    sizes = dict(preset="palm", parameters=c["N"], layers=c["L"], heads=heads, head_size=size, context=c["T"], tokens=1)
    if name.startswith("palm."):
        return flops(**sizes, recompute="selective")
    return mfu(**sizes, recompute="full", tokens_per_second=c["tokens_per_s_per_gpu"], peak=c["peak"])


# What tables 1 of Narayanan et al. 2021 gives as a whole: FLOP/s of all devices.
AGGREGATES = {"3.6B": 8.8e15, "7.5B": 18.2e15, "18.4B": 34.6e15, "39.1B": 70.8e15, "76.1B": 143.8e15, "310.1B": 297.4e15}


def megatron(name, c):
    """A device's share of what all together reach, and that over its peak."""
    sizes = dict(flops=AGGREGATES[name.split("megatron21.")[1].rsplit(".", 1)[0]], seconds=1, devices=c["gpus"], peak=c["peak"])
    if name.endswith("pct_peak"):
        return mfu(**sizes)
    number, prefix = re.search(r"^([\d.]+) ([TP])FLOP/s a device", run("napkin", "math", "mfu", *(f"--{key}={value}" for key, value in sizes.items())), re.M).groups()
    return float(number) * {"T": 1e12, "P": 1e15}[prefix]


def blocks(name, c):
    """Types with a scale a block."""
    return math("size", rf"^{c['dtype']} +\S+ +([\d,]+)", elements=c["n"])


def list_value(name, c):
    """The value of an entry that this file knows; None for others."""
    if ".act_layer_" in name or name.endswith(("5as_over_h", "selective_saving", "flash_no_score_term", "22b_extra_term")):
        return korthikanti(name, c)
    if name.startswith("llmc.") and "act" in name:
        return llm_c(name, c)
    if name.startswith("lec2.") and name.endswith(("total_bytes", "cruncher_2025.activations")):
        return lecture(name, c)
    if name.startswith("llmq."):
        return llm_q(name, c)
    if name.endswith(("hardware_tflop_per_token", ".hfu")) and name.startswith(("palm.", "llmfoundry.")):
        return again(name, c)
    if name.startswith("megatron21.") and name.endswith(("pct_peak", "tflops_per_gpu")):
        return megatron(name, c)
    if name in ("conv.nvfp4_bytes", "conv.mxfp8_bytes"):
        return blocks(name, c)
    if name == "trap.accelerate_fp16_adam":
        return memory("= together", parameters=forward("bert", vocab=28996)["parameters"], bytes_per_parameter=16) / 2**20
    return None
