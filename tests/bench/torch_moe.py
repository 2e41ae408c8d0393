# SPDX-License-Identifier: Apache-2.0
# Copyright 2026 The moemesh authors
"""torch_moe.py T H F E K fp32|bf16 THREADS: a swiglu MoE layer as one writes it in eager PyTorch.

Prints its version, then for each line of its input one forward and backward, and the seconds that they took.
Gradients are dropped before each (set to None), which is PyTorch's fastest way: nothing is zeroed or added.
"""
import os
import sys
import time

import torch
import torch.nn.functional as functional


class Experts(torch.nn.Module):
    def __init__(self, hidden, ffn, experts, top_k):
        super().__init__()
        self.top_k = top_k
        self.router = torch.nn.Parameter(torch.randn(experts, hidden) * 0.02)
        # One parameter for each expert: with one stack of them autograd would make the gradient of the whole stack
        # for every expert's slice.
        def matrices(rows, columns):
            return torch.nn.ParameterList(torch.randn(rows, columns) * 0.02 for _ in range(experts))

        self.up, self.gate, self.down = matrices(ffn, hidden), matrices(ffn, hidden), matrices(hidden, ffn)

    def forward(self, x):
        logits = functional.linear(x.float(), self.router.float())
        weights, chosen = torch.topk(torch.softmax(logits, dim=-1), self.top_k, dim=-1)
        weights = (weights / weights.sum(dim=-1, keepdim=True)).to(x.dtype)
        expert = chosen.flatten()
        order = torch.argsort(expert, stable=True)
        token = torch.div(order, self.top_k, rounding_mode="floor")
        counts = torch.bincount(expert, minlength=len(self.up)).tolist()
        results = []
        for e, rows in enumerate(torch.split(x[token], counts)):
            if counts[e] > 0:
                hidden = functional.silu(functional.linear(rows, self.gate[e])) * functional.linear(rows, self.up[e])
                results.append(functional.linear(hidden, self.down[e]))
        rows = torch.cat(results) * weights.flatten()[order].unsqueeze(1)
        return torch.zeros_like(x).index_add(0, token, rows)


def main():
    tokens, hidden, ffn, experts, top_k = map(int, sys.argv[1:6])
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[sys.argv[6]]
    torch.set_num_threads(int(sys.argv[7]))
    torch.manual_seed(1)
    layer = Experts(hidden, ffn, experts, top_k).to(dtype)
    x = torch.randn(tokens, hidden).to(dtype).requires_grad_()
    dy = torch.randn(tokens, hidden).to(dtype)
    clock = time.process_time if "MOEMESH_BENCH_BUSY" in os.environ else time.perf_counter
    print("PyTorch", torch.__version__, flush=True)
    for _ in sys.stdin:
        layer.zero_grad(set_to_none=True)
        x.grad = None
        begin = clock()
        layer(x).backward(dy)
        print(clock() - begin, flush=True)


main()
