"""Telling the model files of other programs by how they begin."""

from __future__ import annotations

from pathlib import Path

from partwise.errors import ModelFileError
from partwise.foreign import crfpp, crfsuite, wapiti
from partwise.foreign.chain_model import ChainModel

READERS = {
    crfsuite.MAGIC: crfsuite.read_crfsuite_model,
    crfpp.MAGIC: crfpp.read_crfpp,
    wapiti.MAGIC: wapiti.read_wapiti,
}
"""How the files of a program begin, and what reads them."""

UNREAD = {
    crfpp.BINARY_MAGIC: "a binary model of CRF++; train with `crf_learn -t`, which "
    "also writes a text model, and give that",
    b"\x80": "a pickle, which could run any program and is not read; if it holds a CRF "
    "of sklearn-crfsuite, load it there, and give the file crf.modelfile.name",
}
"""How files begin that cannot be read, and what their owners can do."""

OURS_AT, OURS = 8, b"{"  # what follows the size of the header in files of ours


def recognise(path: str | Path) -> bool:
    """Say whether a file looks like the model of another program."""
    return _beginning(path).startswith(tuple(READERS))


def refuse_unread(path: str | Path) -> None:
    """Raise `ModelFileError` with advice for a file that is known but not read."""
    begin = _beginning(path)
    for magic, advice in UNREAD.items():
        if begin.startswith(magic) and begin[OURS_AT:][:1] != OURS:
            raise ModelFileError(f"{path}: {advice}")


def _beginning(path: str | Path) -> bytes:
    """Return the first bytes of a file, none if it cannot be read."""
    try:
        if not Path(path).is_file():  # a pipe would wait for whoever writes into it
            return b""
        with Path(path).open("rb") as file:
            return file.read(64)
    except OSError:  # whoever reads it as a model of ours says what is wrong
        return b""


def read_foreign(path: str | Path) -> ChainModel:
    """Read a file that `recognise` recognises."""
    data = Path(path).read_bytes()
    reader = next(read for magic, read in READERS.items() if data.startswith(magic))
    return reader(data, str(path))
