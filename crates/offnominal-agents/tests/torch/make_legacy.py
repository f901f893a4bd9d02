"""Makes a file as PyTorch wrote it before version 1.6, and the numbers of its tensors in the order of their axes.

    python make_legacy.py        # needs torch

Tensors have strides in another order than their axes, begin inside a storage, share one, or are no numbers at all.
"""

import collections
import json
from pathlib import Path

import torch

HERE = Path(__file__).parent


def main():
    numbers = lambda *shape: torch.arange(float(torch.Size(shape).numel())).reshape(shape) / 4 - 1
    whole = numbers(12)
    state = collections.OrderedDict(
        plain=numbers(2, 3),
        # Filters as TensorFlow keeps them: rows, columns, planes, filters.
        stem=numbers(3, 3, 2, 4).permute(3, 2, 0, 1),
        depthwise=numbers(3, 3, 4, 1).permute(2, 3, 0, 1),
        dense=numbers(3, 5).T,
        part=whole[3:7],
        every_third=whole[::3],
        scalar=torch.tensor(2.5),
        none=torch.zeros(0, 3),
        counter=torch.tensor(7),
    )
    torch.save(state, HERE / "legacy.pth", _use_new_zipfile_serialization=False)
    floats = {name: t for name, t in state.items() if t.is_floating_point()}
    kept = {name: {"shape": list(t.shape), "values": t.flatten().tolist()} for name, t in floats.items()}
    (HERE / "legacy.json").write_text(json.dumps(kept) + "\n")


if __name__ == "__main__":
    main()
