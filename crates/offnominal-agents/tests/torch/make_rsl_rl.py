"""Makes models as the runner of RSL-RL saves them, and the actions that its own classes give.

    python make_rsl_rl.py        # needs rsl-rl-lib, 2.2.4 or 5.5.1, and its dependencies; once with each

The runners' methods `save` write these dictionaries.
"""

import json
from pathlib import Path

import torch

HERE = Path(__file__).parent
torch.manual_seed(5)
ROWS = torch.cat([torch.randn(8, 3), 20 * torch.randn(4, 3)])


def fed(normalizer):
    normalizer.train()
    normalizer.update(torch.randn(50, 3) * torch.tensor([1.0, 5.0, 0.2]) + torch.tensor([3.0, 0.0, -1.0]))
    return normalizer.eval()


def saved(name, parts, answers):
    optimizer = torch.optim.Adam([torch.nn.Parameter(torch.zeros(2))])
    torch.save({**parts, "optimizer_state_dict": optimizer.state_dict(), "iter": 7, "infos": None}, HERE / f"{name}.pt")
    return {"actions": [row.tolist() for row in answers]}


def of_version_2():
    from rsl_rl.modules import ActorCritic, ActorCriticRecurrent, EmpiricalNormalization

    sizes = {"actor_hidden_dims": [8, 6], "critic_hidden_dims": [4]}
    plain, tanh = ActorCritic(3, 3, 2, **sizes), ActorCritic(3, 3, 2, activation="tanh", noise_std_type="log", **sizes)
    memory = ActorCriticRecurrent(3, 3, 2, rnn_type="lstm", rnn_hidden_size=4, rnn_num_layers=1, **sizes)
    normalizer = fed(EmpiricalNormalization(3))
    norm = {"obs_norm_state_dict": normalizer.state_dict(), "critic_obs_norm_state_dict": normalizer.state_dict()}
    state = lambda model: {"model_state_dict": model.state_dict()}
    with torch.no_grad():
        return {
            "rsl-rl-2": saved("rsl-rl-2", {**state(plain), **norm}, plain.act_inference(normalizer(ROWS))),
            "rsl-rl-2-tanh": saved("rsl-rl-2-tanh", state(tanh), tanh.act_inference(ROWS)),
            "rsl-rl-2-lstm": saved("rsl-rl-2-lstm", state(memory), [memory.act_inference(row[None])[0] for row in ROWS]),
        }


def of_version_5():
    from rsl_rl.models import MLPModel, RNNModel
    from tensordict import TensorDict

    seen = lambda rows: TensorDict({"policy": rows}, batch_size=[len(rows)])
    gaussian = {"class_name": "rsl_rl.modules.distribution:GaussianDistribution"}
    given = {"obs_normalization": True, "distribution_cfg": gaussian, "hidden_dims": [8, 6]}
    groups = {"actor": ["policy"]}
    plain = MLPModel(seen(ROWS), groups, "actor", 2, **given)
    memory = RNNModel(seen(ROWS[:1]), groups, "actor", 2, rnn_hidden_dim=4, **{**given, "distribution_cfg": dict(gaussian)})
    for model in (plain, memory):
        fed(model.obs_normalizer)
        model.eval()
    state = lambda model: {"actor_state_dict": model.state_dict(), "critic_state_dict": plain.mlp.state_dict()}
    with torch.no_grad():
        return {
            "rsl-rl-5": saved("rsl-rl-5", state(plain), plain(seen(ROWS))),
            "rsl-rl-5-lstm": saved("rsl-rl-5-lstm", state(memory), [memory(seen(row[None]))[0] for row in ROWS]),
        }


def main():
    try:
        found = of_version_5()
    except ImportError:
        found = of_version_2()
    place = HERE / "rsl_rl.json"
    known = json.loads(place.read_text()) if place.exists() else {}
    known |= {"torch": torch.__version__, "observations": ROWS.tolist(), **found}
    place.write_text(json.dumps(known) + "\n")


main()
