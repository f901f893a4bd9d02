"""Makes lists.parquet: two rollouts whose chunks and embeddings are columns of lists.

python crates/offnominal-rollouts/tests/data/make_lists.py
"""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [
    {"rollout": name, "task": 3, "step": step, "success": name == "a", "executed": 1, "speed": 0.5 * step,
     "chunk": chunk, "embedding": [1.0, float(step)]}
    for name in "ab"
    for step, chunk in enumerate([[[1.0], [2.0]], [[4.0], [0.0]]])
]  # fmt: skip

pq.write_table(pa.Table.from_pylist(ROWS), Path(__file__).with_name("lists.parquet"))
