"""Marginals by pgmpy, in the Python that the variable ``PARTWISE_PGMPY`` names.

pgmpy's requirements do not go with everybody's, so that it has an environment of its
own: ``python -m venv there && there/bin/pip install pgmpy``, and
``PARTWISE_PGMPY=there/bin/python``.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np

VARIABLE = "PARTWISE_PGMPY"

JOB = """
import json, logging, sys, time
import numpy as np
logging.disable(logging.CRITICAL)
from pgmpy.factors.discrete import DiscreteFactor
from pgmpy.inference import VariableElimination
try:
    from pgmpy.models import DiscreteMarkovNetwork as Network
except ImportError:
    from pgmpy.models import MarkovNetwork as Network

given = json.load(sys.stdin)
network = Network()
network.add_nodes_from(map(str, range(len(given["nodes"]))))
network.add_edges_from((str(a), str(b)) for a, b in given["edges"])
for v, scores in enumerate(given["nodes"]):
    network.add_factors(DiscreteFactor([str(v)], [len(scores)], np.exp(scores)))
for (a, b), scores in zip(given["edges"], given["pairs"]):
    sizes = [len(given["nodes"][a]), len(given["nodes"][b])]
    network.add_factors(DiscreteFactor([str(a), str(b)], sizes, np.exp(scores)))
begin = time.perf_counter()
# One variable at a time: asked for all of them, it makes a table of all of them.
engine = VariableElimination(network)
found = [
    engine.query([str(v)], show_progress=False).values
    for v in range(len(given["nodes"]))
]
seconds = time.perf_counter() - begin
marginals = [(own / own.sum()).tolist() for own in found]
print(json.dumps({"seconds": seconds, "marginals": marginals}))
"""


def is_there() -> bool:
    """Say whether pgmpy can be asked."""
    return bool(os.environ.get(VARIABLE))


def marginals(nodes: Any, edges: Any, pairs: Any, limit: float) -> tuple[float, Any]:
    """Return the seconds and the marginals of all nodes; NaN after `limit` seconds."""
    job = json.dumps(
        {
            "nodes": np.asarray(nodes).tolist(),
            "edges": [list(map(int, edge)) for edge in edges],
            "pairs": np.asarray(pairs).tolist(),
        }
    )
    try:
        done = subprocess.run(
            [os.environ[VARIABLE], "-W", "ignore", "-c", JOB],
            input=job,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return float("nan"), None
    if done.returncode:
        raise RuntimeError(
            f"pgmpy failed with code {done.returncode}: {done.stderr[-2000:]}"
        )
    answer = json.loads(done.stdout.splitlines()[-1])
    return answer["seconds"], np.array(answer["marginals"])
