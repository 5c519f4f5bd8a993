"""Writes training steps of published networks as rematerialization problems.

The graphs are built as Checkmate builds them from Keras models (Jain et al. 2020): a node a layer, a loss, a gradient node a layer.
A gradient reads its layer's result and, for each reader of that result, the reader's result and gradient. A forward node costs its
multiply-adds, its gradient twice that; a result has 4 bytes an element. Activations and pools of Keras layers are nodes of cost 0
where Keras has them as layers; an activation inside a convolution is none.

write_networks.py FOLDER [LAYERS...]: with numbers of layers, Transformers of so many alone, 18 nodes a layer.
"""
import json
import pathlib
import sys


class Network:
    def __init__(self):
        self.cost, self.size, self.inputs, self.shape = [], [], [], []

    def add(self, cost, shape, *inputs):
        """A layer of `cost` multiply-adds with a result of `shape` (height, width, channels)."""
        self.cost.append(cost)
        self.size.append(4 * shape[0] * shape[1] * shape[2])
        self.inputs.append(list(inputs))
        self.shape.append(shape)
        return len(self.cost) - 1

    def conv(self, source, channels, kernel=3, stride=1, image=None):
        h, w, c = image or self.shape[source]
        shape = (h // stride, w // stride, channels)
        cost = kernel * kernel * c * shape[0] * shape[1] * channels
        return self.add(cost, shape, *([] if image else [source]))

    def pool(self, source, by=2):
        h, w, c = self.shape[source]
        return self.add(0, (h // by, w // by, c), source)

    def plain(self, shape, *inputs, cost=0):
        return self.add(cost, shape, *inputs)

    def dense(self, source, width):
        h, w, c = self.shape[source]
        return self.add(h * w * c * width, (1, 1, width), source)

    def training(self):
        """Nodes and edges of the training step; the last layer is the output."""
        layers = len(self.cost)
        last = 2 * layers
        nodes = [{"cost": c, "size": s} for c, s in zip(self.cost, self.size)]
        nodes.append({"name": "loss", "cost": 0, "size": 4})
        nodes += [{"cost": 2 * self.cost[i], "size": self.size[i]} for i in reversed(range(layers))]
        edges = set()
        for layer, inputs in enumerate(self.inputs):
            edges.add((layer, last - layer))
            for source in inputs:
                edges.update([(source, layer), (layer, last - source), (last - layer, last - source)])
        edges.update([(layers - 1, layers), (layers, layers + 1)])
        nodes[last]["kept"] = True
        return {"nodes": nodes, "edges": [list(edge) for edge in sorted(edges)]}


def vgg(depths, side=224):
    """VGG of Simonyan and Zisserman 2015, as Keras has it."""
    net = Network()
    node = None
    for channels, depth in zip((64, 128, 256, 512, 512), depths):
        for _ in range(depth):
            node = net.conv(node, channels, image=(side, side, 3) if node is None else None)
        node = net.pool(node)
    return net, node


def vggClassifier(depths):
    net, node = vgg(depths)
    h, w, c = net.shape[node]
    node = net.plain((1, 1, h * w * c), node)
    for width in (4096, 4096, 1000):
        node = net.dense(node, width)
    return net


def fcn8(classes=21):
    """FCN-8s of Long et al. 2015 on VGG16 at 224 x 224: scores of three depths, added and upsampled."""
    net, pool5 = vgg((2, 2, 3, 3, 3))
    pools = [i for i in range(len(net.cost)) if net.cost[i] == 0]
    node = net.conv(net.conv(pool5, 4096, kernel=7), 4096, kernel=1)
    node = net.conv(node, classes, kernel=1)
    for pool in (pools[3], pools[2]):
        h, w, c = net.shape[pool]
        up = net.plain((h, w, classes), node, cost=classes * h * w * classes)
        skip = net.conv(pool, classes, kernel=1)
        node = net.plain((h, w, classes), up, skip, cost=2 * h * w * classes)
    h, w, c = net.shape[node]
    node = net.plain((8 * h, 8 * w, classes), node, cost=64 * classes * h * w * classes)
    return net


def unet(depth=3, side=128, channels=32):
    """U-Net of Ronneberger et al. 2015 with one convolution a level and side."""
    net = Network()
    node, skips = net.conv(None, channels, image=(side, side, 3)), []
    for level in range(depth):
        skips.append(node)
        node = net.conv(net.pool(node), channels << (level + 1))
    for level in reversed(range(depth)):
        h, w, c = net.shape[skips[level]]
        up = net.plain((h, w, 2 * c), node, cost=h * w * 2 * c)
        joined = net.plain((h, w, 3 * c), up, skips[level])
        node = net.conv(joined, c)
    return net


def resnet(stages=(2, 2, 2), side=64, channels=32):
    """Residual blocks of He et al. 2016: two convolutions and an addition."""
    net = Network()
    node = net.conv(None, channels, image=(side, side, 3))
    for stage, blocks in enumerate(stages):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            width = channels << stage
            inner = net.conv(net.conv(node, width, stride=stride), width)
            skip = net.conv(node, width, kernel=1, stride=stride) if stride > 1 else node
            h, w, c = net.shape[inner]
            node = net.plain((h, w, c), inner, skip, cost=2 * h * w * c)
    return net


def transformer(layers=2, tokens=256, width=128, heads=4):
    """Blocks of Vaswani et al. 2017, normalised first, nine nodes a block."""
    net = Network()
    row, element = (1, tokens, width), tokens * width
    node = net.plain(row, cost=element)
    for _ in range(layers):
        norm = net.plain(row, node, cost=4 * element)
        qkv = net.plain((3, tokens, width), norm, cost=3 * element * width)
        scores = net.plain((heads, tokens, tokens), qkv, cost=element * tokens)
        soft = net.plain((heads, tokens, tokens), scores, cost=5 * heads * tokens * tokens)
        mixed = net.plain(row, soft, qkv, cost=element * tokens)
        node = net.plain(row, mixed, node, cost=element * width)
        norm = net.plain(row, node, cost=4 * element)
        hidden = net.plain((4, tokens, width), norm, cost=4 * element * width)
        node = net.plain(row, hidden, node, cost=4 * element * width)
    return net


def chain(length=24):
    net = Network()
    for layer in range(length):
        net.plain((1, 1, 64 + 37 * layer % 61), *([layer - 1] if layer else []), cost=100 + 53 * layer % 89)
    return net


def published():
    return {"vgg16": vggClassifier((2, 2, 3, 3, 3)), "vgg19": vggClassifier((2, 2, 4, 4, 4)), "fcn8": fcn8(), "chain": chain(),
            "unet": unet(), "resnet": resnet(), "transformer": transformer()}


def main():
    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    if len(sys.argv) > 2:
        networks = {f"transformer-{layers}": transformer(int(layers)) for layers in sys.argv[2:]}
    else:
        networks = published()
    for name, network in networks.items():
        (target / f"{name}.json").write_text(json.dumps(network.training()) + "\n")


main()
