"""The works of bench/compare.py: model files with their flags, weights, data and sizes.

A work is what every contender trains: the same weights from a file, the same batches in the same order.
"""
import dataclasses
import json
import math

SEED = 336


@dataclasses.dataclass(frozen=True)
class Gpt:
    """A GPT-2 of examples/gpt2.nap, without dropout."""
    name: str
    vocab: int
    context: int
    layers: int
    heads: int
    d: int
    batch: int
    seq: int
    model = "examples/gpt2.nap"
    peak, warmup, beta2, decay, clip = 6e-4, 700, 0.95, 0.1, 1.0
    data = ("tokens.npy", "targets.npy")

    def flags(self):
        sizes = dict(vocab=self.vocab, context=self.context, layers=self.layers, heads=self.heads, d=self.d,
                     batch=self.batch, seq=self.seq, p=0)
        return [part for name, size in sizes.items() for part in ("-D", f"{name}={size}")] + ["--accumulate=1"]

    def samples(self):
        """What a step's throughput counts, and its unit."""
        return self.batch * self.seq, "tokens"

    def shapes(self):
        """Names and shapes of the parameters, in the order of the file."""
        d = self.d
        found = {"wte.weight": (self.vocab, d), "wpe.weight": (self.context, d)}
        for i in range(self.layers):
            for name, shape in {"ln_1.weight": (d,), "ln_1.bias": (d,),
                                "attn.c_attn.weight": (d, 3 * d), "attn.c_attn.bias": (3 * d,),
                                "attn.c_proj.weight": (d, d), "attn.c_proj.bias": (d,),
                                "ln_2.weight": (d,), "ln_2.bias": (d,),
                                "mlp.c_fc.weight": (d, 4 * d), "mlp.c_fc.bias": (4 * d,),
                                "mlp.c_proj.weight": (4 * d, d), "mlp.c_proj.bias": (d,)}.items():
                found[f"h.{i}.{name}"] = shape
        return found | {"ln_f.weight": (d,), "ln_f.bias": (d,)}

    def initial(self, name, shape, random):
        """One parameter's first value."""
        import numpy
        if name.endswith("bias"):
            return numpy.zeros(shape, numpy.float32)
        if len(shape) == 1:
            return numpy.ones(shape, numpy.float32)
        std = 0.02 / math.sqrt(2 * self.layers) if "c_proj" in name else 0.02
        return random.standard_normal(shape, numpy.float32) * numpy.float32(std)

    def batches(self, steps, random):
        """The data of all steps, by file."""
        import numpy
        rows = random.integers(0, self.vocab, (steps * self.batch, self.seq + 1)).astype(numpy.int32)
        return {"tokens.npy": rows[:, :-1], "targets.npy": rows[:, 1:]}

    def rate(self, step, steps):
        """The learning rate of a step; the works end within the warm-up."""
        return self.peak * (step + 1) / self.warmup

    def decays(self, shape):
        """The weight decay of a parameter."""
        return self.decay if len(shape) >= 2 else 0.0


@dataclasses.dataclass(frozen=True)
class Mlp:
    """The classifier of examples/mlp.nap."""
    name: str
    features: int
    hidden: int
    classes: int
    batch: int
    model = "examples/mlp.nap"
    peak, warmup, beta2, decay, clip = 2e-3, 20, 0.999, 0.01, None
    data = ("images.npy", "labels.npy")

    def flags(self):
        sizes = dict(features=self.features, hidden=self.hidden, classes=self.classes, batch=self.batch)
        return [part for name, size in sizes.items() for part in ("-D", f"{name}={size}")]

    def samples(self):
        return self.batch, "samples"

    def shapes(self):
        sizes = (self.features, self.hidden, self.hidden, self.classes)
        found = {}
        for i in range(3):
            found[f"fc{i + 1}.weight"] = (sizes[i + 1], sizes[i])
            found[f"fc{i + 1}.bias"] = (sizes[i + 1],)
        return found

    def initial(self, name, shape, random):
        import numpy
        bound = 1 / math.sqrt(self.shapes()[name.replace("bias", "weight")][1])
        return random.uniform(-bound, bound, shape).astype(numpy.float32)

    def batches(self, steps, random):
        import numpy
        images = random.integers(0, 17, (steps * self.batch, self.features)).astype(numpy.int32)
        labels = random.integers(0, self.classes, steps * self.batch).astype(numpy.int32)
        return {"images.npy": images, "labels.npy": labels}

    def rate(self, step, steps):
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        t = min((step - self.warmup) / max(steps - self.warmup, 1), 1)
        floor = 0.01 * self.peak
        return floor + (self.peak - floor) * 0.5 * (1 + math.cos(math.pi * t))

    def decays(self, shape):
        return self.decay


WORKS = {work.name: work for work in (
    Gpt("gpt2-4x64", vocab=50257, context=1024, layers=12, heads=12, d=768, batch=4, seq=64),
    Gpt("gpt2-4x256", vocab=50257, context=1024, layers=12, heads=12, d=768, batch=4, seq=256),
    Gpt("characters", vocab=65, context=256, layers=6, heads=6, d=384, batch=12, seq=256),
    Mlp("mlp", features=784, hidden=512, classes=10, batch=128),
)}


def writeInput(work, folder, steps):
    """init.safetensors and the work's data files, from a fixed seed."""
    import numpy
    random = numpy.random.default_rng(SEED)
    header, offset = {}, 0
    for name, shape in work.shapes().items():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [offset, offset + 4 * math.prod(shape)]}
        offset += 4 * math.prod(shape)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "init.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for name, shape in work.shapes().items():
            work.initial(name, shape, random).tofile(file)
    for name, array in work.batches(steps, random).items():
        numpy.save(folder / name, array)


def readWeights(folder):
    """(name, array) of each tensor of init.safetensors, read one by one."""
    import numpy
    with open(folder / "init.safetensors", "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
    for name, entry in header.items():
        yield name, numpy.fromfile(folder / "init.safetensors", numpy.float32, math.prod(entry["shape"]),
                                   offset=8 + size + entry["data_offsets"][0]).reshape(entry["shape"])
