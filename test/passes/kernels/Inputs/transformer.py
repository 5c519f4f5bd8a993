"""Prints a decoder with its AdamW update as the frontend would: LAYERS BATCH SEQ WIDTH HEADS VOCAB [ACCUMULATE]."""
import sys


class Graph:
    """Text of one function, op by op."""

    def __init__(self):
        self.lines, self.arguments, self.count, self.path = [], {}, 0, ""

    def op(self, text, shape, element="f32"):
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text} loc(\"{self.path}\")")
        return name, list(shape), element

    def read(self, declared, shape, element="f32", key="nap.of"):
        name = "%a" + str(len(self.arguments))
        return self.arguments.setdefault((declared, key), (name, list(shape), element))

    def constant(self, value, shape, element="f32"):
        return self.op(f"nap.constant dense<{float(value):.9e}> : {typeOf(shape, element)}", shape, element)

    def broadcast(self, x, axes, shape):
        return self.op(f"nap.broadcast {x[0]} {axes} : {typeOf(x[1], x[2])} -> {typeOf(shape, x[2])}", shape, x[2])

    def binary(self, name, x, y):
        return self.op(f"nap.{name} {x[0]}, {y[0]} : {typeOf(x[1], x[2])}", x[1], x[2])

    def scaled(self, x, factor, name="mul"):
        return self.binary(name, x, self.constant(factor, x[1], x[2]))

    def unary(self, name, x):
        return self.op(f"nap.{name} {x[0]} : {typeOf(x[1], x[2])}", x[1], x[2])

    def reduce(self, kind, x, axes):
        shape = [size for axis, size in enumerate(x[1]) if axis not in axes]
        return self.op(f"nap.reduce {kind} {x[0]} {axes} : {typeOf(x[1], x[2])} -> {typeOf(shape, x[2])}", shape, x[2])

    def einsum(self, pattern, x, y, shape):
        return self.op(f"nap.einsum \"{pattern}\" {x[0]}, {y[0]} : ({typeOf(x[1], x[2])}, {typeOf(y[1], y[2])})"
                       f" -> {typeOf(shape, x[2])}", shape, x[2])

    def view(self, text, x, shape):
        return self.op(f"{text.format(x[0])} : {typeOf(x[1], x[2])} -> {typeOf(shape, x[2])}", shape, x[2])

    def print(self, name, results):
        arguments = ", ".join(f"{a[0]}: {typeOf(a[1], a[2])} {{{key} = @\"{declared}\"}}"
                              for (declared, key), a in self.arguments.items())
        types = ", ".join(f"{typeOf(v[1], v[2])} {{{role}}}" for v, role in results)
        print(f"func.func @{name}({arguments}) -> ({types}) {{")
        print(*self.lines, sep="\n")
        print("  return " + ", ".join(v[0] for v, _ in results) + " : "
              + ", ".join(typeOf(v[1], v[2]) for v, _ in results) + "\n}")


def typeOf(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Model:
    def __init__(self, layers, batch, seq, width, heads, vocab):
        self.layers, self.batch, self.seq, self.width, self.heads, self.vocab = layers, batch, seq, width, heads, vocab
        self.parameters = {}

    def parameter(self, g, name, shape):
        name = f"{g.path}.{name}" if g.path else name
        self.parameters[name] = list(shape)
        return g.read(name, shape)

    def norm(self, g, x):
        b, t, c = x[1]
        last = [0, 1]
        mean = g.broadcast(g.scaled(g.reduce("sum", x, [2]), 1 / c), last, x[1])
        centred = g.binary("sub", x, mean)
        variance = g.scaled(g.reduce("sum", g.binary("mul", centred, centred), [2]), 1 / c)
        scale = g.unary("rsqrt", g.scaled(variance, 1e-5, "add"))
        y = g.binary("mul", centred, g.broadcast(scale, last, x[1]))
        y = g.binary("mul", y, g.broadcast(self.parameter(g, "weight", [c]), [2], x[1]))
        return g.binary("add", y, g.broadcast(self.parameter(g, "bias", [c]), [2], x[1]))

    def linear(self, g, x, width):
        b, t, c = x[1]
        y = g.einsum("bti,io->bto", x, self.parameter(g, "weight", [c, width]), [b, t, width])
        return g.binary("add", y, g.broadcast(self.parameter(g, "bias", [width]), [2], y[1]))

    def gelu(self, g, x):
        cube = g.binary("mul", g.binary("mul", x, x), x)
        inner = g.scaled(g.binary("add", x, g.scaled(cube, 0.044715)), 0.7978845608)
        return g.binary("mul", g.scaled(x, 0.5), g.scaled(g.unary("tanh", inner), 1.0, "add"))

    def attention(self, g, x, path):
        b, t, c = x[1]
        h, d = self.heads, c // self.heads
        g.path = path + ".c_attn"
        qkv = self.linear(g, x, 3 * c)
        g.path = path
        parts = []
        for k in range(3):
            part = g.view(f"nap.slice {{}} [0, 0, {k * c}] step [1, 1, 1]", qkv, [b, t, c])
            parts.append(g.view("nap.reshape {}", part, [b, t, h, d]))
        q, k, v = parts
        scores = g.scaled(g.einsum("bthd,bshd->bhts", q, k, [b, h, t, t]), d ** -0.5)
        ramp = g.op(f"nap.iota : tensor<{t}xi32>", [t], "i32")
        row, column = g.broadcast(ramp, [0], [t, t]), g.broadcast(ramp, [1], [t, t])
        mask = g.op(f"nap.compare ge {row[0]}, {column[0]} : tensor<{t}x{t}xi32> -> tensor<{t}x{t}xi1>", [t, t], "i1")
        mask = g.broadcast(mask, [2, 3], scores[1])
        low = g.constant("-1.0e30", scores[1])
        scores = g.op(f"nap.select {mask[0]}, {scores[0]}, {low[0]} : {typeOf(mask[1], 'i1')}, "
                      f"{typeOf(scores[1], 'f32')}", scores[1])
        most = g.unary("stop_gradient", g.reduce("max", scores, [3]))
        e = g.unary("exp", g.binary("sub", scores, g.broadcast(most, [0, 1, 2], scores[1])))
        p = g.binary("div", e, g.broadcast(g.reduce("sum", e, [3]), [0, 1, 2], scores[1]))
        y = g.einsum("bhts,bshd->bthd", p, v, [b, t, h, d])
        y = g.view("nap.reshape {}", y, [b, t, c])
        g.path = path + ".c_proj"
        return self.linear(g, y, c)

    def forward(self):
        g = Graph()
        shape = [self.batch, self.seq]
        c = self.width
        tokens, targets = g.read("tokens", shape, "i32"), g.read("targets", shape, "i32")
        wte = self.parameter(g, "wte.weight", [self.vocab, c])
        wpe = self.parameter(g, "wpe.weight", [self.seq, c])
        x = g.op(f"nap.embed {wte[0]}, {tokens[0]} : {typeOf(wte[1], 'f32')}, {typeOf(shape, 'i32')} -> "
                 f"{typeOf(shape + [c], 'f32')}", shape + [c])
        x = g.binary("add", x, g.broadcast(wpe, [1, 2], x[1]))
        for layer in range(self.layers):
            path = f"h.{layer}"
            g.path = path + ".ln_1"
            x = g.binary("add", x, self.attention(g, self.norm(g, x), path + ".attn"))
            g.path = path + ".ln_2"
            y = self.norm(g, x)
            g.path = path + ".mlp.c_fc"
            y = self.gelu(g, self.linear(g, y, 4 * c))
            g.path = path + ".mlp.c_proj"
            x = g.binary("add", x, self.linear(g, y, c))
        g.path = "ln_f"
        x = self.norm(g, x)
        g.path = "loss"
        logits = g.einsum("btc,vc->btv", x, wte, shape + [self.vocab])
        most = g.unary("stop_gradient", g.reduce("max", logits, [2]))
        shifted = g.binary("sub", logits, g.broadcast(most, [0, 1], logits[1]))
        total = g.unary("log", g.reduce("sum", g.unary("exp", shifted), [2]))
        logp = g.binary("sub", shifted, g.broadcast(total, [0, 1], logits[1]))
        picked = g.op(f"nap.take_along {logp[0]}, {targets[0]} : {typeOf(logp[1], 'f32')}, {typeOf(shape, 'i32')} -> "
                      f"{typeOf(shape, 'f32')}", shape)
        loss = g.scaled(g.reduce("sum", picked, [0, 1]), -1.0 / (self.batch * self.seq))
        return g, loss

    def update(self):
        g = Graph()
        g.path = "adamw"
        one = g.constant(1.0, [])
        step = g.read("step_count", [])
        beta1, beta2, rate = g.read("beta1", []), g.read("beta2", []), g.read("lr", [])
        correct1 = g.binary("sub", one, g.binary("pow", beta1, step))
        correct2 = g.binary("sub", one, g.binary("pow", beta2, step))
        results = []
        for name, shape in self.parameters.items():
            w, d = g.read(name, shape), g.read(name, shape, key="nap.gradient_of")
            m, v = g.read(name + "#m", shape), g.read(name + "#v", shape)
            wide = lambda x: g.broadcast(x, [], shape)
            m = g.binary("add", g.binary("mul", m, wide(beta1)), g.binary("mul", d, wide(g.binary("sub", one, beta1))))
            v = g.binary("add", g.binary("mul", v, wide(beta2)),
                         g.binary("mul", g.binary("mul", d, d), wide(g.binary("sub", one, beta2))))
            root = g.scaled(g.unary("sqrt", g.binary("div", v, wide(correct2))), 1e-8, "add")
            delta = g.binary("div", g.binary("div", m, wide(correct1)), root)
            delta = g.binary("add", delta, g.scaled(w, 0.1))
            results += [(g.binary("sub", w, g.binary("mul", delta, wide(rate))), f"nap.updates = @\"{name}\""),
                        (m, f"nap.updates = @\"{name}#m\""), (v, f"nap.updates = @\"{name}#v\"")]
        return g, results


def main(layers, batch, seq, width, heads, vocab, accumulate=1):
    model = Model(layers, batch, seq, width, heads, vocab)
    forward, loss = model.forward()
    update, results = model.update()
    print(f"module attributes {{nap.model = \"transformer\", nap.accumulate = {accumulate} : i64}} {{")
    for name, shape in model.parameters.items():
        print(f"nap.declare parameter @\"{name}\" : {typeOf(shape, 'f32')}")
        for slot in "mv":
            print(f"nap.declare state @\"{name}#{slot}\" of @\"{name}\" : {typeOf(shape, 'f32')}")
    for name in ("tokens", "targets"):
        print(f"nap.declare input @{name} : {typeOf([batch, seq], 'i32')}")
    for name, value in (("step_count", 1.0), ("beta1", 0.9), ("beta2", 0.95), ("lr", 0.001)):
        print(f"nap.declare scalar @{name} = {value} : tensor<f32>")
    forward.print("forward", [(loss, "nap.result = \"loss\"")])
    update.print("update", results)
    print("}")


main(*map(int, sys.argv[1:]))
