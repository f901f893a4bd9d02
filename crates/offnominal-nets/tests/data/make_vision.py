#!/usr/bin/env python3
"""What torchvision, timm and transformers say with weights that a formula gives, so that no weights need to be stored.

    pip install torch torchvision timm transformers
    python3 crates/offnominal-nets/tests/data/make_vision.py

Weights and image are those of `formula.py`. Numbers at regular distances of each network's features are kept.
"""

import json
import pathlib

import numpy
import timm
import torch
import torchvision
import transformers
from formula import filled, kept, uniform

IMAGENET = ([0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
CLIP = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])


def image(side, normal):
    rgb = (256 * uniform("picture", side * side * 3)).astype(numpy.uint8).reshape(side, side, 3)
    mean, deviation = (torch.tensor(v)[:, None, None] for v in normal)
    return ((torch.from_numpy(rgb).float().permute(2, 0, 1) / 255 - mean) / deviation)[None]


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
