"""Features: from what users have to the sparse rows that structures take."""

from partwise.features.csr import Encoded, SparseRows
from partwise.features.default_template import DEFAULT_TEMPLATE, default_template
from partwise.features.dicts import FeatureDictEncoder
from partwise.features.template_encoder import Columns, TemplateEncoder
from partwise.features.templates import Template

__all__ = [
    "DEFAULT_TEMPLATE",
    "Columns",
    "Encoded",
    "FeatureDictEncoder",
    "SparseRows",
    "Template",
    "TemplateEncoder",
    "default_template",
]
