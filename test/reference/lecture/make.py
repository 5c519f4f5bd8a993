"""Makes GROUP.safetensors for each GROUP.nap of this folder; see ../vectors.py."""
import pathlib
import sys

import torch

here = pathlib.Path(__file__).parent
sys.path.insert(0, str(here.parent))
from vectors import Group, draw, drawDistinct


def patterns():
    g = Group(here / "patterns.nap")
    b, s, t, d = 2, 5, 7, 6
    c_bst, c_bsd = g.input("c_bst", draw(b, s, t)), g.input("c_bsd", draw(b, s, d))
    c_s = g.input("c_s", draw(b, s))
    loss = 0

    def add(name, y, cotangent):
        nonlocal loss
        assert y.shape == cotangent.shape
        loss = loss + g.value(name + "_value", (cotangent * y).sum())

    add("scores", torch.bmm(g.param("q", b, s, d), g.param("k", b, t, d).mT), c_bst)
    add("dots", torch.bmm(g.param("q2", b, s, d), g.param("k2", b, t, d).mT), c_bst)
    add("three", g.param("x.three", b, s, d) @ g.param("a.three", d, 3) @ g.param("b.three", 3, t),
        c_bst)
    add("diagonal", g.param("square", b, d, d).diagonal(dim1=1, dim2=2), c_bsd[:, 0])
    add("trace", g.param("trace", b, d, d).diagonal(dim1=1, dim2=2).sum(-1), c_s[:, 0])
    add("outer", torch.outer(g.param("outer.u", s), g.param("outer.v", t)), c_bst[0])
    add("summed", g.param("summed", b, s, d).sum(-1), c_s)

    add("split", g.param("split", b, s, d).reshape(b, s, 3, 2).transpose(1, 2),
        c_bsd.reshape(b, s, 2, 3).permute(0, 3, 1, 2))
    add("merged", g.param("merged", b, 3, s, 2).transpose(1, 2).reshape(b, s, d), c_bsd)
    turned = g.param("turned", b, s, d).reshape(b, s, 2, 3)
    add("turned", turned.permute(1, 3, 0, 2).reshape(3 * s, b, 1, 2),
        c_bsd.reshape(b, s, 3, 2).permute(1, 2, 0, 3).reshape(3 * s, b, 1, 2))
    add("stacked", torch.stack([g.param("stacked.u", b, s), g.param("stacked.v", b, s)], -1),
        c_bsd[..., 0:2])
    add("repeated", g.param("repeated", b, s)[..., None].expand(b, s, 6), c_bsd)
    add("tiled", g.param("tiled", b, 3).tile(1, 2), c_bsd[:, 1])

    add("total", g.param("total.x", b, s, d).sum(-1), c_s)
    add("mean", g.param("mean.x", b, s, d).mean(-1), c_s)
    add("max", g.param("max.x", b, s, d, draw=drawDistinct).reshape(b, s, 3, 2).amax(2), c_bsd[..., 0:2])
    add("min", g.param("min.x", b, s, d, draw=drawDistinct).amin(1, keepdim=True), c_bsd[:, 0:1])
    add("prod", g.param("prod.x", b, s, d, low=0.5, high=1.5).prod(-1), c_s)
    g.save(loss)


def adagrad():
    """Five steps, written with the sum under the root as the lecture does; torch's has it outside."""
    steps = 5
    g = Group(here / "adagrad.nap", steps)
    a, b = g.input("a", draw(5 * steps, 3)), g.input("b", draw(5 * steps, 3))
    w = g.param("w", 5, 3)
    start, squares, losses = w.detach().clone(), torch.zeros(5, 3), []
    for x, y in zip(a.split(5), b.split(5)):
        loss = ((w * x - y) ** 2).mean()
        (grad,) = torch.autograd.grad(loss, w)
        squares = squares + grad ** 2
        w.data -= 0.1 * grad * (squares + 1e-5).rsqrt()
        losses.append(loss.item())
    g.value("loss", torch.tensor(losses))
    after = w.detach().clone()
    w.data.copy_(start)
    g.save(weights={"w": after})


patterns()
adagrad()
