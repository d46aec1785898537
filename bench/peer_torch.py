"""The training step of `tessera train`, written for PyTorch. Read behind peer_base.py.

One layer of four attentions, each with query, key and value projections of its own, scores -||q - k||^2 / sqrt(E):

    x' = x + A1(x, c) + A2(x, x)        r_ij = ||x_i - c'_j||^2 over the D coordinates of the data
    c' = c + A3(c, x') + A4(c, c)       loss = mean over tasks of sum_ij softmax_j(-r_ij / tau) r_ij

FORM is how the scores are computed and whether weights are dropped:

    default     cdist and dropout, the library as it comes
    tuned       the same with all threads, OpenBLAS and heap as `tune` sets them
    matmul      tuned, and |q|^2 - 2 q.k + |k|^2 by one batched product
    best        the same without dropout, and without |q|^2, which no softmax sees"""
import math
import time

FORM = sys.argv[1]
if FORM != "default":
    tune()

import torch
from torch import nn
from torch.nn import functional as F

TAU, DROPOUT, RATE, SCALE = 0.1, 0.01, 0.01, 0.1
BY_PRODUCT = FORM in ("matmul", "best")


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.root = math.sqrt(width)

    def scores(self, q, k):
        if not BY_PRODUCT:
            return -torch.cdist(q, k) ** 2 / self.root
        norms = (k * k).sum(-1).unsqueeze(-2)
        if FORM != "best":
            norms = norms + (q * q).sum(-1, keepdim=True)
        return torch.baddbmm(norms, q, k.transpose(-1, -2), beta=-1 / self.root, alpha=2 / self.root)

    def forward(self, x, context):
        q, k, v = self.query(x), self.key(context), self.value(context)
        weights = torch.softmax(self.scores(q, k), -1)
        return (weights if FORM == "best" else F.dropout(weights, DROPOUT)) @ v


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.cross_points, self.points, self.cross_centers, self.centers = (Attention(width) for _ in range(4))

    def forward(self, x, c):
        x = x + self.cross_points(x, c) + self.points(x, x)
        return c + self.cross_centers(c, x) + self.centers(c, c)


class Training:
    def __init__(self, n, d, k, batch):
        self.n, self.d, self.k, self.batch = n, d, k, batch
        self.layer = Layer(d + k)
        self.optimiser = torch.optim.Adam(self.layer.parameters(), lr=RATE)

    def draw(self):
        """Tasks of K normal components; every dimension of a task runs from 0 to 1."""
        places = torch.rand(self.batch, self.k, self.d)
        component = torch.randint(self.k, (self.batch, self.n, 1)).expand(-1, -1, self.d)
        points = places.gather(1, component) + SCALE * torch.randn(self.batch, self.n, self.d)
        least, most = points.amin(1, keepdim=True), points.amax(1, keepdim=True)
        return (points - least) / (most - least)

    def loss(self, points, centers):
        if BY_PRODUCT:
            norms = (points * points).sum(-1, keepdim=True) + (centers * centers).sum(-1).unsqueeze(-2)
            r = torch.baddbmm(norms, points, centers.transpose(-1, -2), alpha=-2)
        else:
            r = torch.cdist(points, centers) ** 2
        return (torch.softmax(-r / TAU, -1) * r).sum((1, 2)).mean()

    def step(self):
        points = self.draw()
        x = F.pad(points, (0, self.k))
        c = torch.cat((points[:, : self.k], torch.eye(self.k).expand(self.batch, -1, -1)), -1)
        self.optimiser.zero_grad()
        self.loss(points, self.layer(x, c)[..., : self.d]).backward()
        self.optimiser.step()


trainings = {}


def run(shape):
    if shape not in trainings:
        trainings[shape] = Training(*shape)
    began = time.perf_counter()
    trainings[shape].step()
    return 1e3 * (time.perf_counter() - began)


if FORM != "default":
    torch.set_num_threads(cores())
torch.manual_seed(0)
threads = torch.get_num_threads()
serve(f"PyTorch {torch.__version__} on {threads} thread{'s' * (threads != 1)}", run)
