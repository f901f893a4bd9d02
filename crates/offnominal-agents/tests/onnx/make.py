"""Writes the networks of these tests and what onnxruntime computes of them.

    pip install onnx onnxruntime numpy && python make.py

`expected.json` names the versions that made it. The weights are drawn here; nothing was trained.
"""

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, checker, helper, numpy_helper

HERE = Path(__file__).parent
RNG = np.random.default_rng(1)


def weights(name, *shape):
    return numpy_helper.from_array(RNG.normal(0, 0.4, shape).astype(np.float32), name)


def whole(name, *numbers):
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def node(operator, inputs, output, **attributes):
    return helper.make_node(operator, inputs.split(), [output], name=f"/{output}", **attributes)


def mlp():
    """As PyTorch exports a policy with tanh at its end; the number of rows is left open."""
    layers = [weights("w0", 16, 3), weights("b0", 16), weights("w1", 16, 16), weights("b1", 16), weights("w2", 1, 16)]
    nodes = [
        node("Gemm", "obs w0 b0", "h0", transB=1),
        node("Relu", "h0", "a0"),
        node("Gemm", "a0 w1 b1", "h1", transB=1, alpha=0.5, beta=2.0),
        node("LeakyRelu", "h1", "a1", alpha=0.1),
        node("Gemm", "a1 w2", "h2", transB=1),
        node("Tanh", "h2", "t"),
        helper.make_node("Constant", [], ["two"], value_float=2.0),
        node("Mul", "t two", "action"),
    ]
    return nodes, layers, ["batch", 3], ["batch", 1]


def cnn():
    """An image of 3 × 9 × 8 numbers, and a value for each of four choices."""
    layers = [
        numpy_helper.from_array(np.float32(255.0), "scale"),
        weights("k0", 5, 3, 3, 2), weights("c0", 5), weights("k1", 4, 5, 2, 2), weights("w", 24, 4), weights("b", 4),
    ]
    nodes = [
        node("Div", "obs scale", "x"),
        node("Conv", "x k0 c0", "h0", strides=[2, 1], pads=[1, 0, 1, 1], kernel_shape=[3, 2]),
        node("Elu", "h0", "a0", alpha=0.7),
        node("Conv", "a0 k1", "h1", kernel_shape=[2, 2]),
        node("MaxPool", "h1", "p", kernel_shape=[2, 3], strides=[2, 2], pads=[0, 1, 0, 0]),
        node("Flatten", "p", "f"),
        node("MatMul", "f w", "m"),
        node("Add", "m b", "action"),
    ]
    return nodes, layers, [1, 3, 9, 8], [1, 4]


def pieces():
    """What exporters put between layers."""
    layers = [
        weights("mean", 4), whole("front", 0), whole("square", -1, 2, 2),
        weights("w", 4, 4), numpy_helper.from_array(np.float32(-0.8), "low"), numpy_helper.from_array(np.float32(0.8), "high"),
    ]
    nodes = [
        node("Sub", "obs mean", "centred"),
        node("Sigmoid", "centred", "s"),
        node("Softplus", "centred", "p"),
        node("Concat", "s p", "both", axis=-1),
        node("Reshape", "both square", "squares"),
        node("Transpose", "squares", "turned", perm=[0, 2, 1]),
        node("Reshape", "turned kept2", "rows"),
        node("MatMul", "rows w", "mixed"),
        node("Softmax", "mixed", "shares", axis=-1),
        node("Abs", "mixed", "positive"),
        node("Sqrt", "positive", "root"),
        node("Pow", "root three", "power"),
        node("Exp", "shares", "grown"),
        node("Log", "grown", "logged"),
        node("Neg", "logged", "negative"),
        node("Add", "power negative", "sum"),
        node("Unsqueeze", "sum front", "lifted"),
        node("Squeeze", "lifted front", "back"),
        node("Clip", "back low high", "clipped"),
        node("Max", "clipped mean", "most"),
        node("Min", "most high", "least"),
        node("Dropout", "least", "kept_all"),
        node("Identity", "kept_all", "same"),
        node("Reshape", "same flat", "action"),
    ]
    layers += [whole("kept2", 2, 4), whole("flat", -1), numpy_helper.from_array(np.float32(3.0), "three")]
    return nodes, layers, [1, 4], [8]


def save(name, made, kind):
    nodes, layers, input_shape, output_shape = made
    graph = helper.make_graph(
        nodes, name,
        [helper.make_tensor_value_info("obs", TensorProto.FLOAT, input_shape)],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, output_shape)],
        layers,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model)
    onnx.save(model, HERE / f"{name}.onnx")
    session = onnxruntime.InferenceSession(HERE / f"{name}.onnx")
    shape = [1 if isinstance(n, str) else n for n in input_shape]
    rows = [kind(shape).astype(np.float32) for _ in range(5)]
    found = [session.run(None, {"obs": row})[0].ravel().tolist() for row in rows]
    return {"inputs": [row.ravel().tolist() for row in rows], "outputs": found}


expected = {
    "versions": {module.__name__: module.__version__ for module in (onnx, onnxruntime)},
    "mlp": save("mlp", mlp(), lambda shape: RNG.normal(size=shape)),
    "cnn": save("cnn", cnn(), lambda shape: RNG.integers(0, 256, shape)),
    "pieces": save("pieces", pieces(), lambda shape: RNG.normal(size=shape)),
}
(HERE / "expected.json").write_text(json.dumps(expected) + "\n")
