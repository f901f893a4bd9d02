"""Writes a small segmentation network with open sizes, how it is fed, and what onnxruntime says of an image.

    pip install onnx onnxruntime numpy && python make.py

The graph has what exporters of PyTorch write: strided, dilated and depth-wise convolutions, a normalisation, PReLU, a
pool, and a resize whose size is computed from the shape of another value. Its logits lie at half the size of the image.
"""

import json
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE, CLASSES, HEIGHT, WIDTH = Path(__file__).parent, 12, 21, 34
rng = np.random.default_rng(1)


def weights(name, *shape):
    scale = 1.5 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.5
    return numpy_helper.from_array((scale * rng.standard_normal(shape)).astype("float32"), name)


def whole(name, *numbers):
    return numpy_helper.from_array(np.array(numbers, "int64"), name)


def network(is_full):
    """The network; with its logits in the size of the image, as they are compared, or as it is exported."""
    global rng
    rng = np.random.default_rng(1)
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w0", "b0"], ["c0"], strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["c0"], ["r0"]),
        node("Conv", ["r0", "w1"], ["c1"], group=8, dilations=[2, 2], pads=[2, 2, 2, 2]),
        node("BatchNormalization", ["c1", "scale", "shift", "mean", "variance"], ["n1"]),
        node("PRelu", ["n1", "slope"], ["p1"]),
        node("MaxPool", ["p1"], ["m1"], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1),
        node("Conv", ["m1", "w2", "b2"], ["c2"], pads=[1, 1, 1, 1], name="/head/Conv"),
        node("Conv", ["c2", "w3", "b3"], ["c3"]),
        node("Shape", ["c0"], ["s0"]),
        node("Slice", ["s0", "two", "end", "zero"], ["s1"]),
        node("Shape", ["c3"], ["s2"]),
        node("Gather", ["s2", "first"], ["s3"]),
        node("Concat", ["s3", "s1"], ["s4"], axis=0),
        node("Resize", ["c3", "", "", "s4"], ["y"], mode="linear", coordinate_transformation_mode="half_pixel"),
    ]
    constants = [
        weights("w0", 8, 3, 3, 3), weights("b0", 8), weights("w1", 8, 1, 3, 3), weights("scale", 8), weights("shift", 8),
        weights("mean", 8), numpy_helper.from_array(np.full(8, 0.5, "float32"), "variance"), weights("slope", 8, 1, 1),
        weights("w2", 8, 8, 3, 3), weights("b2", 8), weights("w3", CLASSES, 8, 1, 1), weights("b3", CLASSES),
        whole("two", 2), whole("end", 2**63 - 1), whole("zero", 0), whole("first", 0, 1),
    ]
    if is_full:
        nodes.append(node("Resize", ["y", "", "", "size"], ["z"], mode="linear"))
        constants.append(whole("size", 1, CLASSES, HEIGHT, WIDTH))
    value = helper.make_tensor_value_info
    outputs = [value("z" if is_full else "y", TensorProto.FLOAT, None)]
    if is_full:
        outputs.append(value("c2", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "net", [value("x", TensorProto.FLOAT, [1, 3, "h", "w"])], outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def small(name):
    """A network of three classes: `three`, or one that gives probabilities, as the last operator or before a resize."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Softmax", ["c"], ["y"], axis=1)]
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], "float32"), "scales")
    nodes.append(helper.make_node("Resize", ["y", "", "scales"], ["z"], mode="linear"))
    n, output = {"three": (1, "c"), "shares": (2, "y"), "hidden": (3, "z")}[name]
    value = helper.make_tensor_value_info
    inputs, outputs = [value("x", TensorProto.FLOAT, [1, 3, 6, 8])], [value(output, TensorProto.FLOAT, None)]
    graph = helper.make_graph(nodes[:n], name, inputs, outputs, [weights("w", 3, 3, 1, 1), scales])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    for name in ("three", "shares", "hidden"):
        (HERE / f"{name}.onnx").write_bytes(small(name).SerializeToString())
    feed = {"mean": [120, 110, 100], "deviation": [50, 60, 70], "scale": 255, "order": "bgr", "features": "/head/Conv"}
    (HERE / "net.json").write_text(json.dumps(feed) + "\n")
    (HERE / "net.onnx").write_bytes(network(False).SerializeToString())
    rgb = (np.arange(HEIGHT * WIDTH * 3) * 7 % 251).reshape(HEIGHT, WIDTH, 3)
    x = ((rgb - np.array(feed["mean"])) / np.array(feed["deviation"]))[:, :, ::-1].transpose(2, 0, 1)[None]
    session = onnxruntime.InferenceSession(network(True).SerializeToString(), providers=["CPUExecutionProvider"])
    logits, features = session.run(None, {"x": x.astype("float32")})
    said = {"logits": logits.ravel()[::5].tolist(), "features": features.ravel().tolist(), "grid": features.shape[1:]}
    (HERE / "said.json").write_text(json.dumps(said) + "\n")


main()
