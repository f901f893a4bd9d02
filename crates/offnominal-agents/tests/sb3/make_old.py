"""Writes `old.zip`: the model of `sac.zip`, its weights as PyTorch saved them before version 1.6, without PyTorch.

    python3 make_old.py

A file of that time is five pickles (a mark, the version, words about the machine, the tensors, the keys of their storages)
and then each storage after its length.
"""

import io
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

HERE = Path(__file__).resolve().parent


def named(module, name):
    """A class of PyTorch by its name."""
    made = type(name, (), {"__module__": module, "__qualname__": name})
    sys.modules.setdefault(module, types.ModuleType(module))
    setattr(sys.modules[module], name, made)
    return made


STORAGE = named("torch", "FloatStorage")
named("torch._utils", "_rebuild_tensor_v2")


class Stored:
    def __init__(self, key, count):
        self.key, self.count = key, count


class Tensor:
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return sys.modules["torch._utils"]._rebuild_tensor_v2, self.args


class Read(pickle.Unpickler):
    def find_class(self, module, name):
        return {"OrderedDict": OrderedDict, "FloatStorage": STORAGE, "_rebuild_tensor_v2": Tensor}[name]

    def persistent_load(self, address):
        return Stored(address[2], address[4])


class Write(pickle.Pickler):
    def persistent_id(self, value):
        return ("storage", STORAGE, value.key, "cpu", value.count, None) if isinstance(value, Stored) else None


def old(policy):
    with zipfile.ZipFile(io.BytesIO(policy)) as parts:
        root = parts.namelist()[0].split("/")[0]
        tensors = Read(io.BytesIO(parts.read(f"{root}/data.pkl"))).load()
        stored = {t.args[0].key: (t.args[0].count, parts.read(f"{root}/data/{t.args[0].key}")) for t in tensors.values()}
    out = io.BytesIO()
    machine = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for value in (0x1950A86A20F9469CFC6C, 1001, machine):
        pickle.dump(value, out, protocol=2)
    Write(out, protocol=2).dump(tensors)
    pickle.dump(sorted(stored), out, protocol=2)
    for key in sorted(stored):
        out.write(struct.pack("<Q", stored[key][0]) + stored[key][1])
    return out.getvalue()


with zipfile.ZipFile(HERE / "sac.zip") as model, zipfile.ZipFile(HERE / "old.zip", "w", zipfile.ZIP_DEFLATED) as made:
    for name, content in (("data", model.read("data")), ("policy.pth", old(model.read("policy.pth")))):
        made.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
