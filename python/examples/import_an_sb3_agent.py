"""Take over an agent of Stable-Baselines3 without PyTorch, and see what its policy is worth.

    python import_an_sb3_agent.py [MODEL.zip ENVIRONMENT [VEC_NORMALIZE.pkl]]

Without arguments it reads a small model that swings the pendulum up.
"""

import sys
from pathlib import Path

import numpy as np

import offnominal

SHIPPED = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3/trained.zip"
model, environment, *rest = sys.argv[1:] or [str(SHIPPED), "pendulum"]

policy = offnominal.Policy.from_sb3(model, normalize=rest[0] if rest else None, env=environment)
env = offnominal.Environment(environment)
obs, _ = env.reset(seed=0)
print(f"{policy.name} in {environment}: {np.round(obs, 3)} -> {np.round(policy(obs), 3)}")

policy.save("imported.safetensors")
found = offnominal.evaluate(environment, "imported.safetensors", episodes=20)
for name in ("return", "random_return"):
    print(f"{name}: {found[name]['value']:.1f} [{found[name]['low']:.1f}, {found[name]['high']:.1f}]")
if found["return"]["low"] <= found["random_return"]["high"]:
    sys.exit("this policy is no better than random commands")
