"""A program that trains on a cluster: what others kill clusters under."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np

from partwise import PartwiseError, SequenceTagger


def make_tagger(**settings: Any) -> SequenceTagger:
    """Return the tagger that is trained in all runs."""
    own = {"template": "default", "solver": "lbfgs", "tol": 1e-3, "max_iter": 25}
    return SequenceTagger("log_loss", **own, **settings)  # type: ignore[arg-type]


def train(address: str, data: str, checkpoint: str, output: str) -> dict[str, Any]:
    """Train on the cluster at an address, from the checkpoint if there is one."""
    import dask
    from distributed import Client

    import partwise.dask

    dask.config.set({"distributed.comm.timeouts.connect": "10s"})
    warnings.simplefilter("ignore")
    tagger = make_tagger(checkpoint=checkpoint, resume=True)
    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(1)
        print("ready", flush=True)
        partwise.dask.fit(tagger, data, client)
        np.save(output, tagger.weights_)
    return {"passes": tagger.n_iter_}


if __name__ == "__main__":
    try:
        print(json.dumps(train(*sys.argv[1:])))
    except (PartwiseError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(3)
