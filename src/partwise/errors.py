"""The exceptions Partwise raises on purpose."""


class PartwiseError(Exception):
    """Base class of every error that Partwise raises on purpose."""


class DataError(PartwiseError, ValueError):
    """Input data that cannot be used; the message says where and what to do."""


class ModelFileError(PartwiseError):
    """A model or checkpoint file that is damaged, foreign or newer than this code."""


class PairingError(PartwiseError, ValueError):
    """A solver asked to do what a structure, a loss or the solver itself cannot."""


class OutOfMemoryError(PartwiseError, MemoryError):
    """What a solver would keep does not fit into memory."""
