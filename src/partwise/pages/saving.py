"""A page as an object: saved to a file, or shown in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from partwise.data.files import open_output

HEIGHT = 720
"""Of the frame that a notebook shows, in pixels."""


@dataclass(frozen=True)
class Page:
    """An HTML page that needs no other file and no network.

    Attributes
    ----------
    title : str
        What it is called.
    html : str
        All of it.

    Examples
    --------
    >>> Page("Greetings", "<!doctype html><p>Hello")
    Page(title='Greetings')
    """

    title: str
    html: str = field(repr=False)

    def save(self, path: str | Path) -> None:
        """Write the page to a file, atomically; ``-`` is standard output."""
        with open_output(str(path)) as out:
            out.write(self.html)

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own, as notebooks want it."""
        return (
            f'<iframe title="{escape(self.title)}" srcdoc="{escape(self.html)}" '
            f'style="width:100%;height:{HEIGHT}px;border:0" sandbox="allow-scripts">'
            "</iframe>"
        )
