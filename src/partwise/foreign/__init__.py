"""Model files of other programs, as plain arrays: read with every offset checked.

Nothing here knows how a model is used. A reader returns a `ChainModel`, or raises
`ModelFileError` with what is wrong; nothing is indexed before it is known to lie inside
the file.
"""

from partwise.foreign.chain_model import ChainModel, make_chain_model
from partwise.foreign.crfpp import read_crfpp
from partwise.foreign.crfsuite import read_crfsuite_model, write_crfsuite_model
from partwise.foreign.recognise import read_foreign, recognise, refuse_unread
from partwise.foreign.wapiti import read_wapiti

__all__ = [
    "ChainModel",
    "make_chain_model",
    "read_crfpp",
    "read_crfsuite_model",
    "read_foreign",
    "read_wapiti",
    "recognise",
    "refuse_unread",
    "write_crfsuite_model",
]
