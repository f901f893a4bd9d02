"""ENet of Cityscapes, trained by somebody else, as ONNX, and what onnxruntime says of it.

    pip install onnx onnxruntime numpy
    git clone https://github.com/RonPlusSign/AnomalySegmentation
    python3 studies/pixels/enet_to_onnx.py AnomalySegmentation/BACKUP/enet_training1/model_best.pth enet.onnx
    offnominal pixels predict --data DIR --model enet.onnx --out said

The weights (Paszke et al. 2016, 20 classes, the last one for what is unlabelled) are read without PyTorch: a zip of a
pickle that may name tensors only. Their licence is not stated, so nothing of them is kept here.
With `--compare IMAGE.npy LOGITS.npy` the logits of `pixels predict` are compared with those of onnxruntime for the
image `[height, width, 3]` in bytes.
"""

import argparse
import collections
import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

EPSILON = 1e-5
TYPES = {"FloatStorage": "float32", "LongStorage": "int64"}


class Stored(pickle.Unpickler):
    """The tensors of a file that PyTorch wrote."""

    def __init__(self, archive):
        self.archive, self.root = archive, archive.namelist()[0].split("/")[0]
        super().__init__(io.BytesIO(archive.read(f"{self.root}/data.pkl")))

    def find_class(self, module, name):
        known = {"_rebuild_tensor_v2": self.tensor, "OrderedDict": collections.OrderedDict, **TYPES}
        if name not in known:
            raise pickle.UnpicklingError(f"expected tensors, found {module}.{name}")
        return known[name]

    def persistent_load(self, saved):
        return np.frombuffer(self.archive.read(f"{self.root}/data/{saved[2]}"), saved[1])

    @staticmethod
    def tensor(storage, offset, size, stride, *_):
        steps = [n * storage.itemsize for n in stride]
        return np.lib.stride_tricks.as_strided(storage[offset:], size, steps).copy()


class Network:
    """The graph in the making."""

    def __init__(self, tensors):
        self.tensors = {name.removeprefix("module."): values for name, values in tensors.items()}
        self.nodes, self.constants = [], []

    def constant(self, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, kind, inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}", f"i{len(self.nodes)}"][:outputs]
        self.nodes.append(helper.make_node(kind, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def conv(self, x, name, norm=None, **attributes):
        """A convolution, or a transposed one, with the normalisation after it folded in."""
        weights = self.tensors[f"{name}.weight"]
        kind = attributes.pop("kind", "Conv")
        side = 0 if kind == "Conv" else 1
        bias = self.tensors.get(f"{name}.bias", np.zeros(weights.shape[side], "float32"))
        if norm:
            scale, shift, mean, variance = self.norm(norm)
            factor = scale / np.sqrt(variance + EPSILON)
            weights = weights * factor.reshape([-1 if i == side else 1 for i in range(4)])
            bias = shift + (bias - mean) * factor
        return self.node(kind, [x, self.constant(weights), self.constant(bias)], **attributes)

    def norm(self, name):
        return [self.tensors[f"{name}.{part}"] for part in ("weight", "bias", "running_mean", "running_var")]

    def activate(self, x, name):
        slope = self.tensors.get(f"{name}.weight")
        return self.node("Relu", [x]) if slope is None else self.node("PRelu", [x, self.constant(slope.reshape(-1, 1, 1))])

    def step(self, x, name, i, **attributes):
        """Convolution, normalisation and activation of a sequence, from its i-th place on."""
        return self.activate(self.conv(x, f"{name}.{i}", f"{name}.{i + 1}", **attributes), f"{name}.{i + 2}")

    def initial(self, x):
        main = self.conv(x, "initial_block.main_branch", strides=[2, 2], pads=[1] * 4)
        side = self.node("MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        both = self.node("Concat", [main, side], axis=1)
        norm = [self.constant(values) for values in self.norm("initial_block.batch_norm")]
        both = self.node("BatchNormalization", [both, *norm], epsilon=EPSILON)
        return self.activate(both, "initial_block.out_activation")

    def bottleneck(self, x, name, dilation=1):
        y = self.step(x, f"{name}.ext_conv1", 0)
        if f"{name}.ext_conv2.3.weight" in self.tensors:
            y = self.step(y, f"{name}.ext_conv2", 0, pads=[2, 0, 2, 0])
            y = self.step(y, f"{name}.ext_conv2", 3, pads=[0, 2, 0, 2])
        else:
            y = self.step(y, f"{name}.ext_conv2", 0, pads=[dilation] * 4, dilations=[dilation] * 2)
        return self.sum(x, self.step(y, f"{name}.ext_conv3", 0), name)

    def sum(self, main, side, name):
        return self.activate(self.node("Add", [main, side]), f"{name}.out_activation")

    def down(self, x, name, more):
        main, places = self.node("MaxPool", [x], 2, kernel_shape=[2, 2], strides=[2, 2])
        pads = self.constant(np.array([0, 0, 0, 0, 0, more, 0, 0], "int64"))
        y = self.step(x, f"{name}.ext_conv1", 0, strides=[2, 2])
        y = self.step(self.step(y, f"{name}.ext_conv2", 0, pads=[1] * 4), f"{name}.ext_conv3", 0)
        return self.sum(self.node("Pad", [main, pads]), y, name), places

    def up(self, x, name, places):
        main = self.conv(x, f"{name}.main_conv1.0", f"{name}.main_conv1.1")
        main = self.node("MaxUnpool", [main, places], kernel_shape=[2, 2], strides=[2, 2])
        y = self.step(x, f"{name}.ext_conv1", 0)
        y = self.conv(y, f"{name}.ext_tconv1", f"{name}.ext_tconv1_bnorm", kind="ConvTranspose", strides=[2, 2])
        y = self.activate(y, f"{name}.ext_tconv1_activation")
        return self.sum(main, self.conv(y, f"{name}.ext_conv2.0", f"{name}.ext_conv2.1"), name)

    def whole(self):
        x, first = self.down(self.initial("x"), "downsample1_0", 48)
        for i in range(1, 5):
            x = self.bottleneck(x, f"regular1_{i}")
        x, second = self.down(x, "downsample2_0", 64)
        kinds = ["regular", "dilated", "asymmetric", "dilated"] * 2
        for stage, start in ((2, 1), (3, 0)):
            dilations = iter([2, 4, 8, 16])
            for i, kind in enumerate(kinds, start):
                x = self.bottleneck(x, f"{kind}{stage}_{i}", next(dilations) if kind == "dilated" else 1)
        x = self.up(x, "upsample4_0", second)
        x = self.bottleneck(self.bottleneck(x, "regular4_1"), "regular4_2")
        x = self.bottleneck(self.up(x, "upsample5_0", first), "regular5_1")
        how = {"kind": "ConvTranspose", "strides": [2, 2], "pads": [1] * 4, "output_padding": [1, 1]}
        return x, self.conv(x, "transposed_conv", **how)

    def model(self):
        features, logits = self.whole()
        value = helper.make_tensor_value_info
        inputs = [value("x", TensorProto.FLOAT, [1, 3, "height", "width"])]
        outputs = [value(logits, TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "enet", inputs, outputs, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), features


def compare(path, image, logits):
    import onnxruntime

    x = np.load(image).astype("float32").transpose(2, 0, 1)[None] / 255
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    theirs, ours = session.run(None, {"x": x})[0][0], np.load(logits)
    agree = np.mean(theirs.argmax(0) == ours.argmax(0))
    print(f"off by {np.abs(theirs - ours).max():.1e} of {np.abs(theirs).max():.1f}; the same class in {agree:.2%} of pixels")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--compare", nargs=2, type=Path, metavar=("IMAGE.npy", "LOGITS.npy"))
    args = parser.parse_args()
    model, features = Network(Stored(zipfile.ZipFile(args.weights)).load()).model()
    args.out.write_bytes(model.SerializeToString())
    feed = {"mean": [0, 0, 0], "deviation": [1, 1, 1], "features": features}
    args.out.with_suffix(".json").write_text(json.dumps(feed) + "\n")
    if args.compare:
        compare(args.out, *args.compare)


main()
