#!/usr/bin/env python3
"""What the small networks say in PyTorch (`studies/pixels/torch_networks.py`), with weights that a formula gives.

    pip install torch numpy pillow safetensors
    python3 crates/offnominal-deep/tests/data/make_small.py

Every 29th logit of one image is kept; numbers are those of `make_deeplabv3.py`.
"""

import json
import pathlib
import sys

import numpy
import torch
from make_deeplabv3 import numbers, uniform

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[3] / "studies" / "pixels"))
import torch_networks  # noqa: E402

HEIGHT, WIDTH, CLASSES, EVERY = 33, 65, 3, 29


def logits(network, stride, x):
    net = torch_networks.Network(network, CLASSES, stride)
    state = {k: v if "num_batches" in k else numbers(k, tuple(v.shape)) for k, v in net.state_dict().items()}
    net.load_state_dict(state)
    with torch.no_grad():
        return net.eval()(x)[0].flatten()[::EVERY].tolist()


def main():
    rgb = (256 * uniform("image", HEIGHT * WIDTH * 3)).astype(numpy.uint8).reshape(HEIGHT, WIDTH, 3)
    x = torch_networks.standardised(torch.from_numpy(rgb).permute(2, 0, 1)[None].float() / 255)
    found = {"made_by": f"torch {torch.__version__}", "every": EVERY, "networks": []}
    for network in ("pspnet", "deeplab"):
        for stride in (4, 8):
            values = [float(f"{v:.9g}") for v in logits(network, stride, x)]
            found["networks"].append({"network": network, "output_stride": stride, "logits": values})
    (HERE / "small.json").write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
