"""Milliseconds of PyTorch for the layers of `conv.rs`, under the same names.

    OMP_NUM_THREADS=1 python crates/offnominal-deep/benches/pytorch_conv.py

A line gives the median of the rounds, in brackets their quartiles, and the fastest, so it can be divided by a line of
`conv.rs` that was measured on the same machine with as many threads. PyTorch is needed for this comparison only.
"""

import os
import statistics
import time

import torch

ROUNDS = 21
BATCH = 12

# Channels, size of the kernel, stride, dilation, and by what the image was made smaller before.
LAYERS = [
    (3, 16, 3, 2, 1, 1),
    (16, 16, 3, 1, 1, 2),
    (16, 32, 3, 2, 1, 2),
    (32, 32, 3, 1, 1, 4),
    (32, 64, 3, 2, 1, 4),
    (64, 64, 3, 1, 1, 8),
    (64, 64, 3, 1, 2, 8),
    (64, 64, 3, 1, 4, 8),
    (128, 64, 3, 1, 1, 8),
    (64, 64, 1, 1, 1, 8),
]


def milliseconds(work):
    """How long a call takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def quartiles(times):
    """Median, quartiles and minimum as text."""
    low, middle, high = statistics.quantiles(times, n=4, method="inclusive")
    return f"{middle:.3f} [{low:.3f}, {high:.3f}], fastest {min(times):.3f}"


def measure(height, width, layer):
    """Prints the lines of one layer."""
    source, to, size, stride, dilation, smaller = layer
    x = torch.randn(BATCH, source, height // smaller, width // smaller, requires_grad=True)
    kernel = torch.randn(to, source, size, size, requires_grad=True)
    padding = dilation * (size - 1) // 2

    def convolve():
        return torch.nn.functional.conv2d(x, kernel, None, stride, padding, dilation)

    def forward():
        with torch.no_grad():
            convolve()

    def both():
        x.grad = kernel.grad = None
        convolve().sum().backward()

    name = f"{height}x{width} {source}->{to} {size}x{size} s{stride} d{dilation}"
    for what, work in [("forward", forward), ("both", both)]:
        work()
        print(f"{name} {what} torch: {quartiles([milliseconds(work) for _ in range(ROUNDS)])}")


def main():
    """Measures every layer at both sizes."""
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    for height, width in [(64, 128), (128, 256)]:
        for layer in LAYERS:
            measure(height, width, layer)


if __name__ == "__main__":
    main()
