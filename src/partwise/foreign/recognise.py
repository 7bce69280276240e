"""Telling the model files of other programs by how they begin."""

from __future__ import annotations

from pathlib import Path

from partwise.foreign import crfpp, crfsuite, wapiti
from partwise.foreign.chain_model import ChainModel

READERS = {
    crfsuite.MAGIC: crfsuite.read_crfsuite_model,
    crfpp.MAGIC: crfpp.read_crfpp,
    wapiti.MAGIC: wapiti.read_wapiti,
}
"""How the files of a program begin, and what reads them."""


def recognise(path: str | Path) -> bool:
    """Say whether a file looks like the model of another program."""
    longest = max(map(len, READERS))
    try:
        if not Path(path).is_file():  # a pipe would wait for whoever writes into it
            return False
        with Path(path).open("rb") as file:
            begin = file.read(longest)
    except OSError:  # whoever reads it as a model of ours says what is wrong
        return False
    return any(begin.startswith(magic) for magic in READERS)


def read_foreign(path: str | Path) -> ChainModel:
    """Read a file that `recognise` recognises."""
    data = Path(path).read_bytes()
    reader = next(read for magic, read in READERS.items() if data.startswith(magic))
    return reader(data, str(path))
