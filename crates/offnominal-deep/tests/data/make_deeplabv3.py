#!/usr/bin/env python3
"""What torchvision's deeplabv3_resnet50 says with weights that a formula gives, so that no weights need to be stored.

    pip install torch==1.12.1 torchvision==0.13.1 "numpy<1.24"
    python3 crates/offnominal-deep/tests/data/make_deeplabv3.py

The number of index i of a tensor is drawn from the mixed sum of i and the FNV-1a digest of its name; see `numbers` here
and in `src/golden.rs`. Every 97th logit of one image is kept.
"""

import json
import pathlib

import numpy
import torch

HEIGHT, WIDTH, CLASSES, EVERY = 65, 97, 21, 97
MEAN, DEVIATION = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


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
    if len(shape) == 4:
        values = (2 * u - 1) * numpy.sqrt(1.5 / numpy.prod(shape[1:]))
    elif name.endswith("running_var") or (name.endswith("weight") and len(shape) == 1):
        values = 0.5 + u
    else:
        values = 0.2 * (2 * u - 1)
    return torch.from_numpy(values.astype(numpy.float32).reshape(shape))


def main():
    import torchvision

    net = torchvision.models.segmentation.deeplabv3_resnet50(
        weights=None, weights_backbone=None, num_classes=CLASSES, aux_loss=False
    )
    state = net.state_dict()
    net.load_state_dict({k: v if k.endswith("num_batches_tracked") else numbers(k, tuple(v.shape)) for k, v in state.items()})
    rgb = (256 * uniform("picture", HEIGHT * WIDTH * 3)).astype(numpy.uint8).reshape(HEIGHT, WIDTH, 3)
    x = (torch.from_numpy(rgb).float().permute(2, 0, 1) / 255 - torch.tensor(MEAN)[:, None, None]) / torch.tensor(DEVIATION)[:, None, None]
    with torch.no_grad():
        logits = net.eval()(x[None])["out"][0].flatten()[::EVERY]
    made = f"torch {torch.__version__}, torchvision {torchvision.__version__}"
    text = json.dumps({"made_by": made, "every": EVERY, "logits": [float(f"{v:.9g}") for v in logits.tolist()]})
    (pathlib.Path(__file__).parent / "deeplabv3.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
