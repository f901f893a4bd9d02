"""Writes ONNX's own test cases of the operators that are computed, as the tests read them.

    pip install onnx numpy && python make_conformance.py

A line of `conformance/OPERATOR.jsonl` is a case: a model with one input (further ones become its weights), the numbers
of the input, and those that ONNX expects of the first output. Cases of text, sequences and many numbers are left out.
"""

import base64
import json
import warnings
from pathlib import Path

import numpy as np
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
MOST_NUMBERS = 400
OPERATORS = [
    "Abs", "Add", "ArgMax", "AveragePool", "BatchNormalization", "Cast", "Ceil", "Clip", "Concat", "Constant",
    "Conv", "ConvTranspose", "Div", "Dropout", "Elu", "Exp", "Expand", "Flatten", "Floor",
    "Gather", "Gemm", "GlobalAveragePool", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "MatMul",
    "Max", "MaxPool", "MaxUnpool", "Min", "Mul", "Neg", "PRelu", "Pad", "Pow", "ReduceMean", "Relu", "Reshape",
    "Resize", "Shape", "Sigmoid", "Softmax", "Softplus", "Sqrt", "Squeeze", "Sub", "Tanh", "Transpose",
    "Unsqueeze", "Upsample",
]


def plain(values):
    return all(isinstance(v, np.ndarray) and v.dtype.kind in "fiub" and v.size <= MOST_NUMBERS for v in values)


def line(case):
    nodes = case.model.graph.node
    if len(nodes) != 1 or nodes[0].op_type not in OPERATORS or not case.data_sets:
        return None
    array = lambda v: numpy_helper.to_array(v) if hasattr(v, "raw_data") else v
    given, expected = [list(map(array, values)) for values in case.data_sets[0]]
    if not plain([*given, expected[0]]):
        return None
    model = type(case.model)()
    model.CopyFrom(case.model)
    names = [value.name for value in model.graph.input]
    del model.graph.input[1:]
    if not names:
        value = model.graph.input.add()
        value.CopyFrom(model.graph.output[0])
        value.name, given = "unused", [np.zeros_like(expected[0])]
    for name, array in list(zip(names, given))[1:]:
        model.graph.initializer.append(numpy_helper.from_array(array, name))
    number = lambda x: float(x) if np.isfinite(x) else str(float(x))
    return nodes[0].op_type, json.dumps({
        "name": case.name,
        "model": base64.b64encode(model.SerializeToString()).decode(),
        "input": [number(x) for x in given[0].astype(np.float64).ravel()],
        "output": [number(x) for x in expected[0].astype(np.float64).ravel()],
        "shape": list(expected[0].shape),
    })


def main():
    lines = {}
    for case in collect_testcases(None):
        found = line(case)
        if found:
            lines.setdefault(found[0], []).append(found[1])
    for operator, found in lines.items():
        (HERE / "conformance" / f"{operator}.jsonl").write_text("\n".join(found) + "\n")


main()
