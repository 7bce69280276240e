"""Where kernels find structures and scratch arrays among their arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

from partwise._jit.places import Place, find_places
from partwise.structures.interface import Structure


class Wrapped(NamedTuple):
    inner: Structure
    ws: Any


class Site(NamedTuple):
    s: Structure
    number: int
    ws: Any


class Worker(NamedTuple):
    number: int
    ws: Any


def ask(s: Structure, i: int, ws: Any) -> None: ...


def visit(site: Site, i: int) -> None: ...


def work(s: Structure, worker: Worker) -> None: ...


def add(x: float, y: float) -> None: ...


def test_places_are_arguments_or_fields_of_one() -> None:
    found = find_places(ask, (tuple, int, tuple))
    assert found == ((Place(0, None),), (Place(2, None),))
    assert find_places(visit, (Site, int)) == ((Place(0, "s"),), (Place(0, "ws"),))
    found = find_places(work, (tuple, Worker))
    assert found == ((Place(0, None),), (Place(1, "ws"),))
    assert find_places(add, (float, float)) == ((), ())


def test_places_inside_a_structure_are_its_own_affair() -> None:
    found = find_places(ask, (Wrapped, int, Wrapped))
    assert found == ((Place(0, None),), (Place(2, None),))
