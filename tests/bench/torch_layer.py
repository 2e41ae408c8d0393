# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""torch_layer.py [--small] [--seconds S]: the layer of device_bench in PyTorch, one grouped product for all experts.

Shapes, steps and lines are device_bench's. --small: shapes a processor can do; --seconds: no case is begun later.
Without a GPU it runs on the processor, whose figures say nothing. Exit status 77: no PyTorch, or none with grouped_mm.
"""
import argparse
import statistics
import sys
import time

try:
    import torch
    import torch.nn.functional as functional
except ImportError as error:
    print(f"SKIPPED, no PyTorch: {error}")
    sys.exit(77)

GROUPED = getattr(functional, "grouped_mm", None) or getattr(torch, "_grouped_mm", None)
GPU = torch.cuda.is_available()
DEVICE = "cuda" if GPU else "cpu"


class Clock:
    """Seconds between two places, on the device's own clock where there is a device."""

    def start(self):
        if GPU:
            torch.cuda.synchronize()
            self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            self.begin.record()
        else:
            self.begin = time.perf_counter()

    def stop(self):
        if not GPU:
            return time.perf_counter() - self.begin
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1e-3


def normal(*extents, dtype, deviation):
    return (torch.randn(*extents, device=DEVICE, dtype=dtype) * deviation).requires_grad_()


class Layer:
    def __init__(self, hidden, ffn, experts, top_k, dtype):
        self.top_k, self.experts = top_k, experts
        self.router = normal(experts, hidden, dtype=torch.float32, deviation=0.02)
        self.up, self.gate = (normal(experts, ffn, hidden, dtype=dtype, deviation=0.02) for _ in range(2))
        self.down = normal(experts, hidden, ffn, dtype=dtype, deviation=0.02)

    def parameters(self):
        return [self.router, self.up, self.gate, self.down]

    def decide(self, x):
        scores = functional.linear(x.float(), self.router).softmax(-1)
        best, expert = scores.topk(self.top_k, dim=-1)
        return best / best.sum(-1, keepdim=True), expert

    def __call__(self, x):
        weight, expert = self.decide(x)
        rows = expert.flatten().argsort(stable=True)
        source = rows // self.top_k
        # No copy to the host: one bin for each expert, counted on the device.
        counts = torch.zeros(self.experts, dtype=torch.int64, device=DEVICE)
        counts.scatter_add_(0, expert.flatten(), torch.ones_like(rows))
        ends = counts.cumsum(0).to(torch.int32)
        taken = x[source]
        hidden = functional.silu(GROUPED(taken, self.gate.mT, offs=ends)) * GROUPED(taken, self.up.mT, offs=ends)
        made = GROUPED(hidden, self.down.mT, offs=ends) * weight.flatten()[rows, None].to(x.dtype)
        return torch.zeros_like(x).index_add(0, source, made)


def measure(layer, x, dy, limit, most):
    clock, forward, backward = Clock(), [], []

    def once():
        for array in [x, *layer.parameters()]:
            array.grad = None
        clock.start()
        y = layer(x)
        forward.append(clock.stop())
        clock.start()
        y.backward(dy)
        backward.append(clock.stop())

    once()
    once()
    steps = int(min(max(limit / (forward[-1] + backward[-1]), 3), most))
    del forward[:], backward[:]
    for _ in range(steps):
        once()
    return forward, backward


def report(name, dtype, tokens, shape, forward, backward):
    hidden, ffn, _, top_k = shape
    both = sorted(f + b for f, b in zip(forward, backward))
    median = statistics.median(both)
    rate = 18 * tokens * top_k * hidden * ffn / median * 1e-12
    print(f"torch  | {name:8} | {dtype} | {tokens:6} | forward {statistics.median(forward) * 1e3:8.2f} ms, "
          f"backward {statistics.median(backward) * 1e3:8.2f} ms | {median * 1e3:8.2f} ms ({both[0] * 1e3:.2f} .. "
          f"{both[-1] * 1e3:.2f}) | {rate:7.2f} TFLOP/s", flush=True)


def run_case(name, dtype, tokens, shape):
    torch.manual_seed(1)
    kind = {"bf16": torch.bfloat16, "fp32": torch.float32}[dtype]
    layer = Layer(*shape, kind)
    x = normal(tokens, shape[0], dtype=kind, deviation=1)
    dy = normal(tokens, shape[0], dtype=kind, deviation=1).detach()
    report(name, dtype, tokens, shape, *measure(layer, x, dy, 2, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    if GROUPED is None:
        print(f"SKIPPED: PyTorch {torch.__version__} has no grouped_mm")
        return 77
    print(f"torch  | PyTorch {torch.__version__} on {torch.cuda.get_device_name() if GPU else 'the processor'}", flush=True)
    less = 16 if options.small else 1
    shapes = {"deepseek": (2048 // less, 1408 // less, 64, 6), "mixtral": (4096 // less, 14336 // less, 8, 2)}
    begin, failed = time.monotonic(), 0
    for tokens in (8192, 32768):
        for name, shape in shapes.items():
            for dtype in ("bf16", "fp32"):
                if time.monotonic() - begin > options.seconds:
                    print(f"left out for want of time | {name} | {dtype} | {tokens // less}")
                    continue
                try:
                    run_case(name, dtype, tokens // less, shape)
                except RuntimeError as error:  # out of memory, or no such product for the dtype
                    failed += 1
                    print(f"failed | {name} | {dtype} | {tokens // less} | {str(error).splitlines()[0][:200]}", flush=True)
    return 1 if failed else 0


sys.exit(main())
