#!/usr/bin/env python3
"""Trains the small networks of `offnominal pixels` with PyTorch, on a graphics card.

    python3 studies/pixels/torch_networks.py --network deeplab --output-stride 4 --data DIR --seconds 360 --seed 1 --out RUN
    offnominal pixels import RUN/weights.safetensors --network deeplab --output-stride 4 --validation DIR --out RUN

The layers are those of `pixels train --preset small`, and have the same names; the second command takes the weights over and
judges them. The recipe is the same too, but for batches of 32, colours that vary and convolutions in half precision: views of
images are larger or smaller, cut out anywhere and mirrored; rare classes weigh more; Adam's steps become smaller as
(1 - progress) ** 0.9. Training lasts for `--seconds` or for `--steps`. DIR is a data set of `pixels scenes` or `pixels frames`.
Needs torch, numpy, pillow and safetensors; two runs with one seed differ, because a card sums in no fixed order.
"""

import argparse
import concurrent.futures
import json
import pathlib
import time

import numpy
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
IGNORED = 255
WIDTH = 16


class ConvNorm(nn.Module):
    """A convolution that keeps the size, but for its stride, and a normalisation by the batch."""

    def __init__(self, channels: tuple[int, int], size: int = 3, stride: int = 1, dilation: int = 1):
        super().__init__()
        padding = dilation * (size - 1) // 2
        self.conv = nn.Conv2d(*channels, size, stride, padding, dilation, bias=False)
        self.norm = nn.BatchNorm2d(channels[1])
        nn.init.kaiming_normal_(self.conv.weight, nonlinearity="relu")

    def forward(self, x):
        return self.norm(self.conv(x))


def numbered(channels: tuple[int, int], size: int, dilation: int = 1, first: int = 0) -> nn.Sequential:
    """The same with torchvision's names: `first` and `first + 1`."""
    layer = ConvNorm(channels, size, 1, dilation)
    return nn.Sequential(*[nn.Identity() for _ in range(first)], layer.conv, layer.norm)


class Trunk(nn.Module):
    """Residual convolutions of three sizes, the last dilated."""

    def __init__(self, stride: int):
        super().__init__()
        w, dilations = WIDTH, dilated(stride, [1, 1, 2, 2, 4, 4, 1])
        self.stem = nn.ModuleList([ConvNorm((3, w), stride=2), ConvNorm((w, w))])
        fine = [ConvNorm((w, 2 * w), stride=2 if stride == 8 else 1)]
        self.fine = nn.ModuleList(fine + [ConvNorm((2 * w, 2 * w)) for _ in range(3)])
        coarse = [ConvNorm((2 * w, 4 * w), stride=2)]
        self.coarse = nn.ModuleList(coarse + [ConvNorm((4 * w, 4 * w), dilation=d) for d in dilations])

    def forward(self, x):
        for layer in self.stem:
            x = functional.relu(layer(x))
        low = stage(self.fine, x)
        return low, stage(self.coarse, low)


def stage(layers, x):
    x = functional.relu(layers[0](x))
    for layer in layers[1:]:
        x = functional.relu(layer(x) + x)
    return x


def dilated(stride: int, dilations: list[int]) -> list[int]:
    """Dilations that reach as far in the image whatever the output stride, but for those of neighbours."""
    return [d if d == 1 else 8 // stride * d for d in dilations]


def resized(x, like):
    return functional.interpolate(x, like.shape[2:], mode="bilinear", align_corners=False)


class Aspp(nn.Module):
    """Convolutions of several dilations beside the mean of the image."""

    def __init__(self, channels: int, rates: list[int]):
        super().__init__()
        pair = (channels, channels)
        convs = [numbered(pair, 1)] + [numbered(pair, 3, rate) for rate in rates] + [numbered(pair, 1, first=1)]
        self.convs, self.project = nn.ModuleList(convs), numbered((5 * channels, channels), 1)

    def forward(self, x):
        all_ = [functional.relu(layer(x)) for layer in self.convs[:-1]]
        image = functional.relu(self.convs[-1](x.mean((2, 3), keepdim=True)))
        return functional.relu(self.project(torch.cat([*all_, image.expand_as(x)], 1)))


class Decoder(nn.Module):
    """DeepLabV3+: features of several scales, refined with the finer map."""

    def __init__(self, classes: int, stride: int):
        super().__init__()
        w, fine = 4 * WIDTH, 24
        self.aspp, self.fine = Aspp(w, dilated(stride, [3, 6, 9])), ConvNorm((2 * WIDTH, fine), 1)
        self.refine = nn.ModuleList([ConvNorm((w + fine, w)), ConvNorm((w, w))])
        self.classify = nn.Conv2d(w, classes, 1)

    def forward(self, low, high):
        x = torch.cat([resized(self.aspp(high), low), functional.relu(self.fine(low))], 1)
        for layer in self.refine:
            x = functional.relu(layer(x))
        return self.classify(x)


class Pyramid(nn.Module):
    """PSPNet: a place is judged with means over regions of four sizes."""

    BINS = (1, 2, 3, 6)

    def __init__(self, classes: int):
        super().__init__()
        w = 4 * WIDTH
        self.level = nn.ModuleDict({str(bins): ConvNorm((w, WIDTH), 1) for bins in self.BINS})
        self.merge, self.classify = ConvNorm((w + 4 * WIDTH, w)), nn.Conv2d(w, classes, 1)

    def forward(self, _, high):
        regions = [functional.adaptive_avg_pool2d(high, bins) for bins in self.BINS]
        levels = [functional.relu(layer(x)) for layer, x in zip(self.level.values(), regions)]
        return self.classify(functional.relu(self.merge(torch.cat([high, *[resized(x, high) for x in levels]], 1))))


class Network(nn.Module):
    """A trunk and a head; logits at the size of the image."""

    def __init__(self, network: str, classes: int, stride: int):
        super().__init__()
        self.trunk = Trunk(stride)
        self.head = Decoder(classes, stride) if network == "deeplab" else Pyramid(classes)

    def forward(self, x):
        return resized(self.head(*self.trunk(x)), x)


class Images:
    """The labelled images of a data set, all of them on the device."""

    def __init__(self, folder: pathlib.Path, device: torch.device, seed: int):
        files = sorted((folder / "images").glob("*.png"))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            rgb = list(pool.map(lambda f: numpy.asarray(Image.open(f).convert("RGB")), files))
            labels = list(pool.map(lambda f: numpy.asarray(Image.open(folder / "labels" / f.name)), files))
        self.rgb = torch.from_numpy(numpy.stack(rgb)).permute(0, 3, 1, 2).to(device)
        self.labels = torch.from_numpy(numpy.stack(labels)).to(device)
        self.rng = torch.Generator(device).manual_seed(seed)
        self.order = torch.empty(0, dtype=torch.long, device=device)

    def weights(self, classes: int):
        """One over the root of each class's share, so that a pixel weighs 1 on average."""
        counts = torch.bincount(self.labels.flatten(), minlength=256)[:classes].double()
        raw = torch.where(counts > 0, (counts.sum() / counts.clamp(min=1)).sqrt(), 0)
        return (raw / ((raw * counts).sum() / counts.sum())).float()

    def uniform(self, n: int, low: float, high: float):
        return low + (high - low) * torch.rand(n, 1, 1, generator=self.rng, device=self.rgb.device)

    def views(self, n: int, jitter: float):
        """Some images, all of them in a new order again and again: larger or smaller, cut out anywhere, mirrored, and with
        other colours.
        """
        device = self.rgb.device
        if len(self.order) < n:
            self.order = torch.randperm(len(self.rgb), generator=self.rng, device=device)
        chosen, self.order = self.order[:n], self.order[n:]
        rgb, labels = self.rgb[chosen].float() / 255, self.labels[chosen]
        height, width = labels.shape[1:]
        pace = 1 / self.uniform(n, 0.75, 1.75)

        def places(size):
            room = size * (1 - pace)
            start = torch.minimum(room, room * 0) + self.uniform(n, 0, 1) * room.abs()
            return start + (torch.arange(size, device=device) + 0.5) * pace

        y, x = places(height).permute(0, 2, 1).expand(-1, -1, width), places(width).expand(-1, height, -1)
        x = torch.where(self.uniform(n, 0, 1) < 0.5, x.flip(2), x)
        grid = torch.stack([2 * x / width - 1, 2 * y / height - 1], 3)
        inside = (grid.abs() < 1).all(3)
        seen = functional.grid_sample(rgb, grid, padding_mode="border", align_corners=False)
        row, column = y.long().clamp(0, height - 1), x.long().clamp(0, width - 1)
        named = labels.flatten(1).gather(1, (row * width + column).flatten(1)).view_as(labels)
        seen = standardised(self.coloured(seen, jitter)) * inside[:, None]
        return seen, torch.where(inside, named, IGNORED)

    def coloured(self, x, jitter: float):
        """Brightness, contrast and saturation, each times something near one."""
        light, contrast, colour = (self.uniform(len(x), 1 - jitter, 1 + jitter)[:, None] for _ in range(3))
        x = (x * light).clamp(0, 1)
        x = (x.mean((1, 2, 3), keepdim=True) * (1 - contrast) + x * contrast).clamp(0, 1)
        return (x.mean(1, keepdim=True) * (1 - colour) + x * colour).clamp(0, 1)


def standardised(x):
    mean, deviation = (torch.tensor(v, device=x.device)[:, None, None] for v in (MEAN, DEVIATION))
    return (x - mean) / deviation


def groups(net: nn.Module, decay: float):
    """Only kernels are pulled towards zero."""
    kernels = [p for p in net.parameters() if p.dim() > 1]
    others = [p for p in net.parameters() if p.dim() == 1]
    return [{"params": kernels, "weight_decay": decay}, {"params": others, "weight_decay": 0}]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def save(net: nn.Module, out: pathlib.Path):
    out.mkdir(parents=True, exist_ok=True)
    tensors = {k: v.float().contiguous().cpu() for k, v in net.state_dict().items() if "num_batches" not in k}
    save_file(tensors, out / "weights.safetensors")


def train(net: nn.Module, images: Images, classes: int, args):
    """Returns the number of steps, and the mean loss of the last ones."""
    optimiser = torch.optim.Adam(groups(net, 1e-4), lr=args.rate)
    weights, begun, step, losses, saved = images.weights(classes), time.monotonic(), 0, [], 0.0
    while True:
        elapsed = time.monotonic() - begun
        progress = elapsed / args.seconds if args.seconds else step / args.steps
        if progress >= 1:
            return step, mean(losses[-100:])
        for group in optimiser.param_groups:
            group["lr"] = args.rate * (1 - progress) ** 0.9
        x, labels = images.views(args.batch, args.jitter)
        with torch.autocast(x.device.type, torch.bfloat16, enabled=x.is_cuda):
            logits = net(x.contiguous(memory_format=torch.channels_last))
        known = torch.where(labels < classes, labels, IGNORED).long()
        loss = functional.cross_entropy(logits.float(), known, weights, ignore_index=IGNORED)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        step += 1
        if step % 50 == 0:
            losses.append(loss.item())
        if elapsed - saved > 60:
            saved = elapsed
            save(net, args.out)
            print(f"{args.network}: step {step}, {elapsed:.0f} s, loss {mean(losses[-20:])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=["pspnet", "deeplab"], required=True)
    parser.add_argument("--output-stride", type=int, choices=[4, 8], default=8)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="labelled images to learn from")
    parser.add_argument("--classes", type=int, default=12, help="labels below this are classes")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--seconds", type=float, help="how long to train")
    length.add_argument("--steps", type=int, help="how many steps")
    parser.add_argument("--batch", type=int, default=32, help="images in a step")
    parser.add_argument("--rate", type=float, default=3e-3, help="first learning rate")
    parser.add_argument("--jitter", type=float, default=0.3, help="how much brightness, contrast and saturation vary")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for weights.safetensors and training.json")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    device = torch.device(args.device)
    net = Network(args.network, args.classes, args.output_stride).to(device, memory_format=torch.channels_last)
    images = Images(args.data, device, args.seed)
    begun = time.monotonic()
    steps, loss = train(net, images, args.classes, args)
    save(net, args.out)
    card = f"{torch.cuda.get_device_name()}" if device.type == "cuda" else "processor"
    how = {k: str(v) if isinstance(v, pathlib.Path) else v for k, v in vars(args).items()}
    how |= {"images": len(images.rgb), "steps": steps, "seconds": round(time.monotonic() - begun, 1), "loss": loss}
    how |= {"torch": torch.__version__, "card": card}
    (args.out / "training.json").write_text(json.dumps(how, indent=2) + "\n")


if __name__ == "__main__":
    main()
