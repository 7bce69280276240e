"""How good predictions are: labels, chunks, trees, phrases and paths.

All functions take what is right and what was predicted, in this order. A ratio of
nothing to nothing is 0, without a warning.
"""

from partwise.metrics.chunks import Span, are_chunk_labels, spans
from partwise.metrics.labels import (
    ChunkScores,
    ConfusionTable,
    LabelScores,
    Scores,
    chunk_f1,
    chunk_scores,
    confusion_table,
    label_scores,
    sequence_accuracy,
    token_accuracy,
)

__all__ = [
    "ChunkScores",
    "ConfusionTable",
    "LabelScores",
    "Scores",
    "Span",
    "are_chunk_labels",
    "chunk_f1",
    "chunk_scores",
    "confusion_table",
    "label_scores",
    "sequence_accuracy",
    "spans",
    "token_accuracy",
]
