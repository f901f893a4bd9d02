"""Makes records.pkl: two rollouts in the form of ActProbe's pickles.

python make_records.py
"""

import pickle
from pathlib import Path

import numpy as np

RECORDS = [
    {"episode_id": i, "success": i == 0, "length": n, "task_name": "lift", "weight": 0.5,
     "hidden_states": np.array([[0.25, 0.5]] * n, np.float32),
     "probe_features_10": np.arange(10.0 * n, dtype=np.float32).reshape(n, 10)}
    for i, n in enumerate([2, 1])
]  # fmt: skip

Path(__file__).with_name("records.pkl").write_bytes(pickle.dumps(RECORDS, protocol=4))
