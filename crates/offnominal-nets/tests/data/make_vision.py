#!/usr/bin/env python3
"""What torchvision, timm and transformers say with weights that a formula gives, so that no weights need to be stored.

    pip install torch torchvision timm transformers
    python3 crates/offnominal-nets/tests/data/make_vision.py

The number of index i of a tensor is drawn from the mixed sum of i and the FNV-1a digest of its name; see `numbers` here
and in `src/vision/references.rs`. Numbers at regular distances of each network's features are kept.
"""

import json
import pathlib

import numpy
import timm
import torch
import torchvision
import transformers

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])


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


def image(side, normal):
    rgb = (256 * uniform("image", side * side * 3)).astype(numpy.uint8).reshape(side, side, 3)
    mean, deviation = (torch.tensor(v)[:, None, None] for v in normal)
    return ((torch.from_numpy(rgb).float().permute(2, 0, 1) / 255 - mean) / deviation)[None]


def kept(values, every):
    return [float(f"{v:.9g}") for v in values.flatten()[::every].tolist()]


def resnet():
    net = filled(torchvision.models.resnet18(weights=None))
    net.fc = torch.nn.Identity()
    return {"whole": kept(net(image(128, IMAGENET)), 7)}


def vit():
    net = filled(timm.create_model("vit_small_patch16_224", pretrained=False, num_classes=0))
    words = net.forward_features(image(224, IMAGENET))[0]
    return {"whole": kept(words[0], 7), "patches": kept(words[1:], 397)}


def clip():
    config = transformers.CLIPVisionConfig(
        hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
        patch_size=32, image_size=224, projection_dim=512, hidden_act="quick_gelu",
    )
    net = filled(transformers.CLIPVisionModelWithProjection(config))
    return {"whole": kept(net(pixel_values=image(224, CLIP)).image_embeds, 7)}


def main():
    versions = f"torch {torch.__version__}, torchvision {torchvision.__version__}, timm {timm.__version__}, transformers {transformers.__version__}"
    with torch.no_grad():
        made = {"made_by": versions, "resnet18": resnet(), "vit_small_patch16": vit(), "clip_vit_base_patch32": clip()}
    (pathlib.Path(__file__).parent / "vision.json").write_text(json.dumps(made) + "\n")


if __name__ == "__main__":
    main()
