"""Makes trained.zip: a good policy of the pendulum in the format of Stable-Baselines3, without PyTorch.

    python make_trained.py        # needs offnominal

The policy is trained by this project in seconds. Its weights replace those of sac.zip, which Stable-Baselines3 wrote after a
few steps of training; shapes and everything else of the file stay as they are.
"""

import io
import json
import struct
import tempfile
import zipfile
from pathlib import Path

import numpy as np

import offnominal

HERE = Path(__file__).parent

#: Storages of the actor in policy.pth, in the order of its layers.
LAYERS = {"actor.0": (0, 1), "actor.1": (2, 3), "actor.2": (4, 5)}


def tensors(path):
    """The arrays of a safetensors file."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    for name, about in header.items():
        first, last = (8 + length + offset for offset in about["data_offsets"])
        yield name, np.frombuffer(content[first:last], np.float32).reshape(about["shape"])


def replaced(archive, parts):
    """The bytes of a zip with some of its files replaced; files are stored as they were."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w") as new:
        for info in old.infolist():
            fresh = zipfile.ZipInfo(info.filename, (1980, 1, 1, 0, 0, 0))
            new.writestr(fresh, parts.get(info.filename, old.read(info.filename)))
    return buffer.getvalue()


def main():
    with tempfile.TemporaryDirectory() as folder:
        settings = ["hidden=[16, 12]", "normalise=none", "eval_every=5000"]
        card = offnominal.train("pendulum", out=folder, algorithm="sac", steps=15_000, set_=settings, seed=1)
        weights = dict(tensors(Path(folder) / "policy.safetensors"))
    storages = {}
    for layer, (weight, bias) in LAYERS.items():
        # PyTorch keeps the matrices of layers with a row for each output.
        storages[f"archive/data/{weight}"] = np.ascontiguousarray(weights[f"{layer}.weight"].T).tobytes()
        storages[f"archive/data/{bias}"] = weights[f"{layer}.bias"].tobytes()
    model = (HERE / "sac.zip").read_bytes()
    with zipfile.ZipFile(io.BytesIO(model)) as file:
        policy = replaced(file.read("policy.pth"), storages)
    (HERE / "trained.zip").write_bytes(replaced(model, {"policy.pth": policy}))
    print(card["mean_return"])


main()
