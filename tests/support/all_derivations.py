"""All derivations of a short sentence, in the codes of `ConstituencyTrees`."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

Node = tuple[int, int, int, int]


def all_derivations(
    grammar: Any, symbols: Sequence[Sequence[int]], most: int | None = None
) -> Iterator[tuple[int, ...]]:
    """Yield the derivations of a sentence whose words may have these symbols."""
    n = len(symbols)
    rules = [
        (int(parent), int(left), int(right))
        for parent, left, right in zip(
            grammar.rules.parent, grammar.rules.left, grammar.rules.right, strict=True
        )
    ]

    @cache
    def below(
        a: int, start: int, end: int
    ) -> list[tuple[dict[int, Any], dict[int, int]]]:
        """List the nodes by split, and the symbols of words, below a symbol."""
        if end == start + 1:
            return [({}, {start: a})] if a in list(symbols[start]) else []
        found = []
        for r, (parent, left, right) in enumerate(rules):
            for m in range(start + 1, end) if parent == a else ():
                for nodes, words in below(left, start, m):
                    for others, more in below(right, m, end):
                        one = {m: (r, start, end)}
                        found.append((one | nodes | others, words | more))
                        if most is not None and len(found) > most:
                            return found
        return found

    count = 0
    for root in range(grammar.n_symbols):
        if grammar.is_root[root]:
            for nodes, words in below(root, 0, n):
                table = [nodes[m] for m in range(1, n)]
                codes = [column for row in zip(*table, strict=True) for column in row]
                yield (*codes, *(words[t] for t in range(n)))
                count += 1
                if count == most:
                    return
