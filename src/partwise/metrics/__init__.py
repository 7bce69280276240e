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
from partwise.metrics.calibration import calibration_error, coverage
from partwise.metrics.chunks import (
    ChunkScores,
    Span,
    are_chunk_labels,
    chunk_f1,
    chunk_scores,
    segment_scores,
    spans,
)
from partwise.metrics.conll18 import (
    CONLL18_METRICS,
    F1,
    Conll18Scores,
    conll18_scores,
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
from partwise.metrics.text_spans import text_span_scores

__all__ = [
    "CONLL18_METRICS",
    "F1",
    "ArcScores",
    "AttachmentScores",
    "BracketGroup",
    "BracketScores",
    "ChunkScores",
    "ConfusionTable",
    "Conll18Scores",
    "LabelScores",
    "LatticeScores",
    "Scores",
    "Span",
    "are_chunk_labels",
    "attachment_scores",
    "bracket_scores",
    "calibration_error",
    "chunk_f1",
    "chunk_scores",
    "confusion_table",
    "conll18_scores",
    "coverage",
    "edit_distance",
    "is_punctuation",
    "label_scores",
    "lattice_scores",
    "segment_scores",
    "sequence_accuracy",
    "spans",
    "text_span_scores",
    "token_accuracy",
]
