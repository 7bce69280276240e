"""The template that tagging uses when none is given."""

from __future__ import annotations

import re
from collections.abc import Sequence

DEFAULT_TEMPLATE = """\
# words
U00:%x[-2,0]
U01:%x[-1,0]
U02:%x[0,0]
U03:%x[1,0]
U04:%x[2,0]
U05:%x[-1,0]/%x[0,0]
U06:%x[0,0]/%x[1,0]
# without case
U10:%x[-1,0.lower]
U11:%x[0,0.lower]
U12:%x[1,0.lower]
# affixes
U20:%x[0,0.prefix1]
U21:%x[0,0.prefix2]
U22:%x[0,0.prefix3]
U23:%x[0,0.prefix4]
U24:%x[0,0.suffix1]
U25:%x[0,0.suffix2]
U26:%x[0,0.suffix3]
U27:%x[0,0.suffix4]
# shapes
U30:%x[0,0.shape]
U31:%x[-1,0.short_shape]
U32:%x[0,0.short_shape]
U33:%x[1,0.short_shape]
U34:%x[-1,0.kind]/%x[0,0.kind]/%x[1,0.kind]
# transitions
B
"""

_FURTHER_COLUMN = """\
# column {c}
U{c}.00:%x[-2,{c}]
U{c}.01:%x[-1,{c}]
U{c}.02:%x[0,{c}]
U{c}.03:%x[1,{c}]
U{c}.04:%x[2,{c}]
U{c}.10:%x[-2,{c}]/%x[-1,{c}]
U{c}.11:%x[-1,{c}]/%x[0,{c}]
U{c}.12:%x[0,{c}]/%x[1,{c}]
U{c}.13:%x[1,{c}]/%x[2,{c}]
U{c}.20:%x[-2,{c}]/%x[-1,{c}]/%x[0,{c}]
U{c}.21:%x[-1,{c}]/%x[0,{c}]/%x[1,{c}]
U{c}.22:%x[0,{c}]/%x[1,{c}]/%x[2,{c}]
"""


_COLUMN = re.compile(r"(%x\[-?\d+,)(\d+)")


def default_template(n_columns: int | Sequence[int] = 1) -> str:
    """Return a good template for tagging.

    Parameters
    ----------
    n_columns : int or sequence of int
        How many columns describe a token, the label not counted, or which ones. The
        first is the word; further ones (a part of speech, say) hold short categories.

    Returns
    -------
    str
        The text of a template.

    Examples
    --------
    >>> default_template(1) == DEFAULT_TEMPLATE
    True
    >>> "U1.11:%x[-1,1]/%x[0,1]" in default_template(2)
    True
    >>> "U1.11:%x[-1,3]/%x[0,3]" in default_template([0, 3])
    True
    """
    columns = range(n_columns) if isinstance(n_columns, int) else n_columns
    if len(columns) < 1:
        raise ValueError(f"n_columns must be at least 1, not {n_columns}")
    further = (_FURTHER_COLUMN.format(c=c) for c in range(1, len(columns)))
    text = DEFAULT_TEMPLATE + "".join(further)
    return _COLUMN.sub(lambda macro: f"{macro[1]}{columns[int(macro[2])]}", text)
