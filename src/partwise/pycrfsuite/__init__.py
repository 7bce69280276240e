"""python-crfsuite's module with Partwise inside.

Change one line of a program, and keep the rest::

    import partwise.pycrfsuite as pycrfsuite

Signatures, defaults, errors and logs are those of python-crfsuite, and so are the model
files: each opens what the other wrote.
"""

from partwise.pycrfsuite.errors import CRFSuiteError
from partwise.pycrfsuite.items import ItemSequence
from partwise.pycrfsuite.tagger import Tagger
from partwise.pycrfsuite.trainer import BaseTrainer, Trainer

CRFSUITE_VERSION = "0.12.2"
"""The version of CRFsuite whose behaviour and files these are."""

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "Tagger",
    "Trainer",
]
