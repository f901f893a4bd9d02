"""How long segmentation networks take here and in onnxruntime, on one thread, taking turns.

    pip install onnx onnxruntime numpy && python crates/offnominal-nets/benches/onnx_networks.py

Weights are random. The networks have what published ones consist of: `pspnet` our small trunk, `enet` bottlenecks with
PReLU, dilated and asymmetric convolutions and transposed ones at a quarter of the size, `mobile` depth-wise
convolutions, `resnet` bottlenecks with dilations at an eighth and wide maps. A line gives the medians of the rounds.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROUNDS = 9
rng = np.random.default_rng(1)


class Net:
    """A graph in the making; each method appends a node and gives the name of its value."""

    def __init__(self):
        self.nodes, self.constants, self.width = [], [], {"x": 3}

    def weights(self, *shape):
        name = f"w{len(self.constants)}"
        scale = np.sqrt(2 / max(1, np.prod(shape[1:])))
        self.constants.append(numpy_helper.from_array((scale * rng.standard_normal(shape)).astype("float32"), name))
        return name

    def node(self, kind, inputs, width, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        self.width[name] = width
        return name

    def conv(self, x, to, kernel=(3, 3), stride=1, dilation=1, group=1, then="Relu"):
        pads = [dilation * (k - 1) // 2 for k in kernel] * 2
        w = self.weights(to, self.width[x] // group, *kernel)
        inputs = [x, w, self.weights(to)]
        y = self.node("Conv", inputs, to, strides=[stride] * 2, dilations=[dilation] * 2, group=group, pads=pads)
        if then == "PRelu":
            return self.node("PRelu", [y, self.weights(to, 1, 1)], to)
        return self.node(then, [y], to) if then else y

    def up(self, x, to):
        inputs = [x, self.weights(self.width[x], to, 2, 2), self.weights(to)]
        return self.node("Relu", [self.node("ConvTranspose", inputs, to, strides=[2, 2])], to)

    def pool(self, x):
        return self.node("MaxPool", [x], self.width[x], kernel_shape=[2, 2], strides=[2, 2])

    def sum(self, a, b, then="Relu"):
        return self.node(then, [self.node("Add", [a, b], self.width[a])], self.width[a])

    def resize(self, x, by):
        name = f"w{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array([1, 1, by, by], "float32"), name))
        return self.node("Resize", [x, "", name], self.width[x], mode="linear")

    def model(self, y):
        value = helper.make_tensor_value_info
        inputs, outputs = value("x", TensorProto.FLOAT, [1, 3, "h", "w"]), value(y, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, "net", [inputs], [outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def pspnet():
    net = Net()
    x = net.conv(net.conv("x", 16, stride=2), 16)
    x = net.conv(x, 32, stride=2)
    for _ in range(3):
        x = net.sum(net.conv(x, 32, then=None), x)
    x = net.conv(x, 64, stride=2)
    for dilation in (1, 1, 2, 2, 4, 4, 1):
        x = net.sum(net.conv(x, 64, dilation=dilation, then=None), x)
    return net.model(net.resize(net.conv(x, 19, (1, 1), then=None), 8))


def enet():
    net = Net()

    def bottleneck(x, **how):
        y = net.conv(x, net.width[x] // 4, (1, 1), then="PRelu")
        if how.pop("asymmetric", False):
            y = net.conv(net.conv(y, net.width[y], (5, 1), then=None), net.width[y], (1, 5), then="PRelu")
        else:
            y = net.conv(y, net.width[y], then="PRelu", **how)
        y = net.conv(y, net.width[x], (1, 1), then=None)
        total = net.node("Add", [x, y], net.width[x])
        return net.node("PRelu", [total, net.weights(net.width[x], 1, 1)], net.width[x])

    x = net.conv("x", 16, stride=2, then="PRelu")
    x = net.conv(net.pool(x), 64, (1, 1), then="PRelu")
    for _ in range(4):
        x = bottleneck(x)
    x = net.conv(net.pool(x), 128, (1, 1), then="PRelu")
    for _ in range(2):
        for how in ({}, {"dilation": 2}, {"asymmetric": True}, {"dilation": 4}, {}, {"dilation": 8}):
            x = bottleneck(x, **how)
    x = bottleneck(net.up(x, 64))
    x = bottleneck(net.up(x, 16))
    w = [x, net.weights(16, 19, 2, 2), net.weights(19)]
    return net.model(net.node("ConvTranspose", w, 19, strides=[2, 2]))


def mobile():
    net = Net()
    x = net.conv("x", 32, stride=2)
    for to, stride in ((16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (64, 1), (64, 1), (96, 1)):
        y = net.conv(x, 6 * net.width[x], (1, 1))
        y = net.conv(y, net.width[y], stride=stride, group=net.width[y])
        y = net.conv(y, to, (1, 1), then=None)
        x = net.node("Add", [x, y], to) if to == net.width[x] and stride == 1 else y
    return net.model(net.resize(net.conv(x, 19, (1, 1), then=None), 8))


def resnet():
    net = Net()
    x = net.pool(net.conv("x", 64, (7, 7), stride=2))
    for to, stride, dilation, blocks in ((128, 1, 1, 2), (256, 2, 1, 2), (512, 1, 2, 2)):
        for i in range(blocks):
            y = net.conv(x, to // 4, (1, 1), stride=stride if i == 0 else 1)
            y = net.conv(net.conv(y, to // 4, dilation=dilation), to, (1, 1), then=None)
            side = net.conv(x, to, (1, 1), stride=stride if i == 0 else 1, then=None) if i == 0 else x
            x = net.sum(y, side)
    x = net.conv(x, 256, dilation=12)
    return net.model(net.resize(net.conv(x, 19, (1, 1), then=None), 8))


def main():
    height, width = (int(n) for n in sys.argv[1:3]) if len(sys.argv) > 2 else (256, 512)
    command = ["cargo", "bench", "-q", "-p", "offnominal-nets", "--bench", "onnx"]
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    image = (np.arange(3 * height * width) % 251 / 125 - 1).astype("float32").reshape(1, 3, height, width)
    print(f"onnxruntime {onnxruntime.__version__}, one thread, {height} × {width} pixels, {ROUNDS} rounds")
    with tempfile.TemporaryDirectory() as folder:
        for make in (pspnet, enet, mobile, resnet):
            path = Path(folder) / f"{make.__name__}.onnx"
            path.write_bytes(make().SerializeToString())
            session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
            times = []
            for _ in range(ROUNDS + 1):
                start = time.perf_counter()
                output = session.run(None, {"x": image})[0]
                theirs = 1e3 * (time.perf_counter() - start)
                ours.stdin.write(f"{path} {height} {width}\n")
                ours.stdin.flush()
                found, total = (float(word) for word in ours.stdout.readline().split())
                times.append((theirs, found))
            apart = abs(total / np.abs(output).astype("float64").sum() - 1)
            theirs, found = np.median(times[1:], axis=0)
            print(f"{make.__name__:8} onnxruntime {theirs:7.1f} ms, ours {found:7.1f} ms, ratio {theirs / found:.2f}, sums apart {apart:.0e}")
    ours.stdin.close()
    ours.wait()


main()
