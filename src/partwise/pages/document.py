"""One HTML file that needs nothing else: style, script and data inside it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from partwise.characters import printable, safe_json
from partwise.pages.view import View

POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:"
)
"""What a browser lets the page do: nothing that leaves it."""
SERVED = f"{POLICY}; connect-src 'self'"
"""The same for a page that asks the server it comes from."""
SCRIPTS = ("elements.js", "drawings.js", "charts.js", "browser.js", "page.js")
DIGITS = 4


def render(
    data: Mapping[str, Any],
    title: str,
    scripts: Sequence[str] = SCRIPTS,
    policy: str = POLICY,
) -> str:
    """Return a page that shows `data`.

    Parameters
    ----------
    data : mapping
        What the scripts read, made of dicts, lists, strings and numbers.
    title : str
        What the page is called.
    scripts : sequence of str
        Files of the folder ``assets``, in order.
    policy : str
        The page's Content-Security-Policy.

    Examples
    --------
    >>> page = render({"title": "</script>"}, "A < B")
    >>> "<title>A &lt; B</title>" in page, page.count("</script>")
    (True, 2)
    """
    parts = {
        "{{title}}": escape(printable(title)),
        "{{policy}}": escape(policy),
        "{{style}}": _asset("page.css"),
        "{{script}}": "\n".join(map(_asset, scripts)),
        "{{data}}": as_script_data(data),
    }
    # Split first: what one part holds must not be taken for another's place.
    page = _asset("page.html")
    pieces = []
    for name, content in parts.items():
        before, _, page = page.partition(name)
        pieces += [before, content]
    text = "".join([*pieces, page])
    return text.encode("utf-8", "replace").decode("utf-8")


def as_script_data(data: object) -> str:
    r"""Return JSON that nothing inside a ``script`` element can end.

    Examples
    --------
    >>> as_script_data({"word": "</script>"})
    '{"word":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(
        data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=str
    )
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return safe_json(text)


def view_data(view: View, number: int, codes: Mapping[str, Mapping[str, int]]) -> Any:
    """Return a view as the scripts read it.

    Parameters
    ----------
    view : View
        The view.
    number : int
        Its number, from 1.
    codes : mapping
        The numbers of labels, by table.
    """
    same = view.gold == view.found
    data: dict[str, Any] = {
        "n": number,
        "words": view.words,
        "found": view.found,
        "wrong": view.mistakes,
        "size": view.size,
    }
    if view.gold is not None:
        data["gold"] = "=" if same else view.gold
    if view.place:
        data["place"] = view.place
    for name in ("surprise", "margin"):
        value = rounded(getattr(view, name))
        if value is not None:
            data[name] = value
    if view.second is not None:
        data["second"] = view.second
    if view.reasons:
        data["why"] = [
            [r.at, r.label, r.runner_up, rounded(r.margin), _short(r.features)]
            for r in view.reasons
        ]
    pairs = {
        name: sorted({own[a] * len(own) + own[b] for a, b in view.tables[name]})
        for name, own in codes.items()
        if view.tables.get(name)
    }
    if pairs:
        data["pairs"] = pairs
    return data | {name: _short(value) for name, value in view.more.items()}


def rounded(value: float | None) -> float | None:
    """Return a few digits of a number; None if it is not finite.

    Examples
    --------
    >>> rounded(0.123456789), rounded(float("inf"))
    (0.1235, None)
    """
    if value is None or not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")


def _short(value: Any) -> Any:
    """Return lists with fewer digits."""
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    return value


def _asset(name: str) -> str:
    return (files("partwise.pages") / "assets" / name).read_text("utf-8")
