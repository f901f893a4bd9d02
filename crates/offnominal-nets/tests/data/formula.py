"""Weights and images that a formula gives, so that no weights need to be stored; `networks.rs` has the same formula.

The number of index i of a tensor is drawn from the mixed sum of i and the FNV-1a digest of its name.
"""

import numpy
import torch


def uniform(name, n):
    """Numbers in [0, 1): the finaliser of SplitMix64 of digest + index, its upper 24 bits."""
    digest = 0xCBF29CE484222325
    for byte in name.encode():
        digest = (digest ^ byte) * 0x100000001B3 % 2**64
    with numpy.errstate(over="ignore"):
        z = numpy.arange(n, dtype=numpy.uint64) + numpy.uint64(digest)
        z = (z ^ (z >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        z = z ^ (z >> numpy.uint64(31))
    return (z >> numpy.uint64(40)).astype(numpy.float64) / 2**24


def numbers(name, shape):
    u = uniform(name, int(numpy.prod(shape)))
    if len(shape) in (2, 4) and "position" not in name:
        values = (2 * u - 1) * numpy.sqrt(1.5 / numpy.prod(shape[1:]))
    elif name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
        values = 0.5 + u
    else:
        values = 0.2 * (2 * u - 1)
    return torch.from_numpy(values.astype(numpy.float32).reshape(shape))


def filled(net):
    state = net.state_dict()
    floats = {k: numbers(k, tuple(v.shape)) for k, v in state.items() if v.is_floating_point()}
    net.load_state_dict({**state, **floats})
    return net.eval()


def kept(values, every):
    return [float(f"{v:.9g}") for v in values.flatten()[::every].tolist()]
