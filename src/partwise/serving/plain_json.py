"""Answers as JSON that can always be written, and printed anywhere."""

from __future__ import annotations

import json
import math
from typing import Any

from fastapi.responses import JSONResponse


class PlainJSON(JSONResponse):
    r"""JSON in ASCII: whatever clients sent in words, it can be written and printed.

    Numbers that are not finite, such as the margin over nothing, are null.

    Examples
    --------
    >>> PlainJSON({"word": "\ud800", "margin": float("inf")}).body
    b'{"word":"\\ud800","margin":null}'
    """

    def render(self, content: Any) -> bytes:
        """Return the body of a response."""
        return plain(content).encode()


def plain(content: Any) -> str:
    r"""Return JSON in ASCII, with null for numbers that are not finite.

    Examples
    --------
    >>> plain([1.5, float("nan"), "\u2028"])
    '[1.5,null,"\\u2028"]'
    """
    write = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode
    try:
        return write(content)
    except ValueError:  # looking at every number takes longer than writing them
        return write(finite(content))


def finite(value: Any) -> Any:
    """Return a value in which numbers that are not finite are None.

    Examples
    --------
    >>> finite({"margins": [1.5, float("inf")]})
    {'margins': [1.5, None]}
    """
    if isinstance(value, dict):
        return {key: finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
