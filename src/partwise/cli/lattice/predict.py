"""What ``partwise predict`` writes for lattice rankers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.options import Encoding, JsonLines, KBest, Marginals
from partwise.cli.output import as_json

if TYPE_CHECKING:
    from partwise import LatticeInput, LatticePath, LatticeRanker

# How many lattices are ranked together, at most, and until how many edges they have;
# one by one in a pipe, which is answered while it is still open.
BATCH, BATCH_EDGES = 64, 50_000


class Outputs(StrEnum):
    """What distinguishes the outputs of a lattice."""

    paths = "paths"
    words = "words"


def predict(
    model: LatticeRanker,
    input: str,
    output: str,
    *,
    marginals: Marginals = False,
    kbest: KBest = None,
    json: JsonLines = False,
    outputs: Annotated[
        Outputs | None,
        typer.Option(
            help="With --kbest: whether the paths differ, or also their words "
            "(default: as in training).",
        ),
    ] = None,
    encoding: Encoding = "utf-8",
) -> None:
    """Rank the paths of lattices, as they come in.

    Lattice rankers read lattices, one JSON object per line, and write the words of the
    best path of each, or the numbers of its edges if it has no words.
    """
    from partwise.data import iter_lattices, open_output

    if outputs is not None and kbest is None:
        raise ValueError("--outputs needs --kbest")
    lattices = iter_lattices(input, encoding=encoding)
    with open_output(output) as out:
        for batch in in_batches(lattices, 1 if input == "-" else BATCH):
            if kbest is not None:
                ranked = model.predict_kbest(batch, kbest, outputs=outputs)
                lines = _ranked(batch, ranked, json)
            else:
                shares = model.predict_marginals(batch) if marginals else None
                lines = _best(batch, model.predict(batch), shares, json)
            out.writelines(f"{line}\n" for line in lines)
            out.flush()


def in_batches(
    lattices: Iterable[LatticeInput], size: int = BATCH
) -> Iterator[list[LatticeInput]]:
    """Read lattices a few at a time, so that large ones are not in memory together."""
    batch: list[LatticeInput] = []
    for lattice in lattices:
        batch.append(lattice)
        edges = sum(len(one.edges) for one in batch)
        if len(batch) == size or edges >= BATCH_EDGES:
            yield batch
            batch = []
    if batch:
        yield batch


def text_of(path: LatticePath) -> str:
    """Return the words of a path; the numbers of its edges if it yields none.

    Always a single line, even if words hold line breaks.
    """
    if not path.words:
        return " ".join(map(str, path.edges))
    return " ".join(path.text.splitlines())


def _described(lattice: LatticeInput, more: dict[str, Any]) -> str:
    return as_json({"name": lattice.name, **more} if lattice.name else more)


def _numbers(path: LatticePath) -> dict[str, Any]:
    return {"words": list(path.words), "edges": list(path.edges), "score": path.score}


def _best(
    batch: Sequence[LatticeInput],
    paths: Sequence[LatticePath],
    shares: Sequence[Any] | None,
    json: bool,
) -> Iterator[str]:
    for i, (lattice, path) in enumerate(zip(batch, paths, strict=True)):
        own = None if shares is None else shares[i].tolist()
        if json:
            more = {} if own is None else {"probabilities": own}
            yield _described(lattice, {**_numbers(path), **more})
            continue
        for e in path.edges if own is not None else ():
            edge = lattice.edges[e]
            words = " ".join(edge.words)
            yield f"# edge {e} {own[e]:.4f} {words}".rstrip()  # type: ignore[index]
        yield text_of(path)


def _ranked(
    batch: Sequence[LatticeInput], ranked: Iterable[Sequence[LatticePath]], json: bool
) -> Iterator[str]:
    for lattice, paths in zip(batch, ranked, strict=True):
        if json:
            yield _described(lattice, {"kbest": [_numbers(path) for path in paths]})
            continue
        for rank, path in enumerate(paths, 1):
            yield f"# rank {rank} score {path.score:.6f}"
            yield text_of(path)
