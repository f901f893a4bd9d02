"""Makes state dictionaries in the layouts of CleanRL's scripts, and the actions that their networks give.

    python make_cleanrl.py        # needs torch for the CPU

The classes have the names of layers that the scripts have (vwxyzjn/cleanrl at fe8d8a0); the scripts save
`agent.state_dict()`, or a tuple of them, with `torch.save`.
"""

import json
import zipfile
from pathlib import Path

import numpy as np
import torch
from torch import nn

HERE = Path(__file__).parent
LOW, HIGH = torch.tensor([-1.0, -20.0]), torch.tensor([1.0, 4.0])


def chain(*widths, between=nn.Tanh):
    layers = [part for a, b in zip(widths, widths[1:]) for part in (nn.Linear(a, b), between())]
    return nn.Sequential(*layers[:-1])


class Ppo(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor = chain(3, 8, 8, 1), chain(3, 8, 8, 4)

    def forward(self, x):
        return self.actor(x).argmax(1, keepdim=True)


class PpoContinuous(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic, self.actor_mean = chain(3, 8, 8, 1), chain(3, 8, 8, 2)
        self.actor_logstd = nn.Parameter(torch.zeros(1, 2))

    def forward(self, x):
        return torch.clamp(self.actor_mean(x), LOW, HIGH)


class Bounded(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(3, 8), nn.Linear(8, 8)
        self.register_buffer("action_scale", (HIGH - LOW) / 2)
        self.register_buffer("action_bias", (HIGH + LOW) / 2)

    def hidden(self, x):
        return torch.relu(self.fc2(torch.relu(self.fc1(x))))


class Td3(Bounded):
    def __init__(self):
        super().__init__()
        self.fc_mu = nn.Linear(8, 2)

    def forward(self, x):
        return torch.tanh(self.fc_mu(self.hidden(x))) * self.action_scale + self.action_bias


class Sac(Bounded):
    def __init__(self):
        super().__init__()
        self.fc_mean, self.fc_logstd = nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        return torch.tanh(self.fc_mean(self.hidden(x))) * self.action_scale + self.action_bias


class Dqn(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = chain(3, 12, 8, 4, between=nn.ReLU)

    def forward(self, x):
        return self.network(x).argmax(1, keepdim=True)


class PpoAtari(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = nn.Sequential(
            nn.Conv2d(4, 32, 8, stride=4), nn.ReLU(), nn.Conv2d(32, 64, 4, stride=2), nn.ReLU(),
            nn.Conv2d(64, 64, 3, stride=1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 8), nn.ReLU(),
        )  # fmt: skip
        self.actor, self.critic = nn.Linear(8, 5), nn.Linear(8, 1)
        with torch.no_grad():  # Of the weights every fiftieth is kept, so that the file is small.
            for weight in self.network.parameters():
                if weight.ndim > 1:
                    weight.mul_(20.0 * (torch.rand_like(weight) < 0.02))

    def forward(self, x):
        return self.actor(self.network(x / 255.0)).argmax(1, keepdim=True)


def pack(path):
    """Deflates the parts, which `torch.save` stores."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def main():
    torch.manual_seed(3)
    rows = torch.cat([torch.randn(10, 3), 20 * torch.randn(6, 3)])
    images = torch.randint(0, 256, (2, 4, 36, 36)).float()
    expected = {"torch": torch.__version__, "observations": rows.tolist(), "images": images.flatten(1).tolist()}
    for kind in (Ppo, PpoContinuous, Td3, Sac, Dqn, PpoAtari):
        agent, name = kind(), kind.__name__.lower()
        with torch.no_grad():
            expected[name] = agent(images if kind is PpoAtari else rows).float().tolist()
        state = agent.state_dict()
        path = HERE / f"{name}.cleanrl_model"
        torch.save((state, chain(5, 8, 1).state_dict()) if kind is Td3 else state, path)
        if kind is PpoAtari:
            pack(path)
    moments = {"mean": np.array([1, 2, 3], np.float32), "var": np.array([4, 1, 0.25], np.float32)}
    np.savez(HERE / "moments.npz", **moments)
    (HERE / "cleanrl.json").write_text(json.dumps(expected) + "\n")


main()
