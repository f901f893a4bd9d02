"""Take over an agent of Stable-Baselines3 without PyTorch, and see what its policy is worth.

    python import_an_sb3_agent.py [MODEL.zip VEC_NORMALIZE.pkl ENVIRONMENT]

Without arguments it reads the small model that the tests of this project keep.
"""

import sys
from pathlib import Path

import numpy as np

import offnominal

SHIPPED = Path(__file__).parents[2] / "crates/offnominal-agents/tests/sb3"
given = sys.argv[1:] or [str(SHIPPED / "sac.zip"), str(SHIPPED / "sac.pkl"), "pendulum"]
model, normalize, environment = given

policy = offnominal.Policy.from_sb3(model, normalize, env=environment)
env = offnominal.Environment(environment)
obs, _ = env.reset(seed=0)
print(f"{policy.name} in {environment}: {np.round(obs, 3)} -> {np.round(policy(obs), 3)}")

policy.save("imported.safetensors")
found = offnominal.evaluate(environment, "imported.safetensors", episodes=20)
for name in ("return", "random_return"):
    print(f"{name}: {found[name]['value']:.1f} [{found[name]['low']:.1f}, {found[name]['high']:.1f}]")
