"""Features: from what users have to the sparse rows that structures take."""

import warnings
from typing import TYPE_CHECKING, Any

from partwise.features.clusters import Clusters
from partwise.features.csr import AttributeRows, Encoded
from partwise.features.default_template import DEFAULT_TEMPLATE, default_template
from partwise.features.dicts import FeatureDictEncoder
from partwise.features.gazetteer import Gazetteer
from partwise.features.resources import Resources
from partwise.features.templates import Template
from partwise.features.token_features import TokenFeatures
from partwise.features.word_vectors import WordVectors

if TYPE_CHECKING:
    from partwise.features.template_encoder import Columns, TemplateEncoder


def __getattr__(name: str) -> Any:
    # It is compiled code, for which plain feature dicts need not wait.
    if name in ("Columns", "TemplateEncoder"):
        from partwise.features import template_encoder

        return getattr(template_encoder, name)
    if name == "SparseRows":
        warnings.warn(
            "partwise.features.SparseRows is deprecated; use "
            "partwise.features.AttributeRows",
            DeprecationWarning,
            stacklevel=2,
        )
        return AttributeRows
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DEFAULT_TEMPLATE",
    "AttributeRows",
    "Clusters",
    "Columns",
    "Encoded",
    "FeatureDictEncoder",
    "Gazetteer",
    "Resources",
    "Template",
    "TemplateEncoder",
    "TokenFeatures",
    "WordVectors",
    "default_template",
]
