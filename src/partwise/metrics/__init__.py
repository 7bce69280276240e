"""How good predictions are: labels, chunks, trees, phrases and paths.

All functions take what is right and what was predicted, in this order. 0/0 is 0,
without a warning.
"""

from partwise.metrics.attachment import (
    ArcScores,
    AttachmentScores,
    attachment_scores,
    is_punctuation,
)
from partwise.metrics.brackets import BracketGroup, BracketScores, bracket_scores
from partwise.metrics.chunks import (
    ChunkScores,
    Span,
    are_chunk_labels,
    chunk_f1,
    chunk_scores,
    segment_scores,
    spans,
)
from partwise.metrics.labels import (
    ConfusionTable,
    LabelScores,
    confusion_table,
    label_scores,
    sequence_accuracy,
    token_accuracy,
)
from partwise.metrics.lattices import LatticeScores, edit_distance, lattice_scores
from partwise.metrics.scores import Scores

__all__ = [
    "ArcScores",
    "AttachmentScores",
    "BracketGroup",
    "BracketScores",
    "ChunkScores",
    "ConfusionTable",
    "LabelScores",
    "LatticeScores",
    "Scores",
    "Span",
    "are_chunk_labels",
    "attachment_scores",
    "bracket_scores",
    "chunk_f1",
    "chunk_scores",
    "confusion_table",
    "edit_distance",
    "is_punctuation",
    "label_scores",
    "lattice_scores",
    "segment_scores",
    "sequence_accuracy",
    "spans",
    "token_accuracy",
]
