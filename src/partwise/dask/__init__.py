"""Training and prediction on the workers of a Dask cluster.

``pip install "partwise[dask]"`` brings Dask along. The estimator is any of those that
learn from shards; it is fitted as by its own `fit`, and is a model as any other.
"""

from partwise.dask.fitting import fit, predict

__all__ = ["fit", "predict"]
