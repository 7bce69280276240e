"""The one exception of python-crfsuite's own."""

from __future__ import annotations

MESSAGES = {
    -2147483648: "Unknown error occurred",
    -2147483647: "Insufficient memory",
    -2147483646: "Unsupported operation",
    -2147483645: "Incompatible data",
    -2147483644: "Internal error",
    -2147483643: "Overflow",
    -2147483642: "Not implemented",
}


class CRFSuiteError(Exception):
    """Training failed.

    Attributes
    ----------
    code : int
        The number that CRFsuite gives to what happened.

    Examples
    --------
    >>> str(CRFSuiteError(-2147483643))
    'Overflow'
    """

    def __init__(self, code: int) -> None:
        super().__init__(MESSAGES.get(code, "Unexpected error"))
        self.code = code
