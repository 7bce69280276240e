"""Errors carry what they are about, and callers say it in their own words."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from partwise import GraphArrays, GraphLabeler, LatticeInput, LatticeRanker, data
from partwise.errors import Advice, DataError
from partwise.features import FeatureDictEncoder
from partwise.structures.graph.junction_tree import TooWideError
from partwise.structures.lattice import LatticeError

FIELDS = {
    "example": 3,
    "part": 2,
    "column": "tag",
    "path": "train.txt",
    "line": 7,
    "advice": (Advice("crossing", "skip", "leaves them out"),),
}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "broken"),
        ({"path": "a.txt"}, "a.txt: broken"),
        ({"path": "a.txt", "line": 7}, "a.txt:7: broken"),
        ({"path": "a.txt", "line": 7, "example": 3}, "a.txt:7: broken"),
        ({"example": 3}, "example 3: broken"),
        ({"example": 0, "part": 0}, "example 0, part 0: broken"),
        ({"where": "sequence 3", "example": 3}, "sequence 3: broken"),
        (
            {"advice": [Advice("n", 1, "helps"), Advice("name", "x", "does too")]},
            "broken (n=1 helps; name='x' does too)",
        ),
    ],
)
def test_data_error_text_follows_from_fields(fields: dict, text: str) -> None:
    error = DataError("broken", **fields)
    assert str(error) == text
    assert error.problem == "broken"
    for name, value in fields.items():
        given = getattr(error, name)
        assert (list(given) if name == "advice" else given) == value


def test_data_error_is_located_in_other_words() -> None:
    error = DataError("broken", where="sequence 3, token 2", example=3, part=2)
    named = error.located("the lattice 'hush', edge 2")
    assert str(named) == "the lattice 'hush', edge 2: broken"
    assert (named.example, named.part) == (3, 2)
    moved = error.located(path="a.jsonl", line=9)
    assert (str(moved), moved.line) == ("a.jsonl:9: broken", 9)
    assert str(error) == "sequence 3, token 2: broken"  # as it was
    renumbered = error.located(example=5, part=0)
    assert str(renumbered) == "example 5, part 0: broken"


def test_data_error_advises_in_other_words() -> None:
    error = DataError("arcs cross", path="a", advice=FIELDS["advice"])
    flags = error.advising(lambda advice: f"--{advice.setting} {advice.value}")
    assert str(flags) == "a: arcs cross (--crossing skip)"
    assert flags.advice == error.advice


@pytest.mark.parametrize(
    "error",
    [
        DataError("broken", **FIELDS),
        DataError("broken", **FIELDS).located("somewhere"),
        DataError("broken", **FIELDS).advising(lambda advice: advice.setting),
        TooWideError(4, "tables are too large", [1, 2]),
        LatticeError(2, "its edges form a cycle:", [0, 1, 0]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_data_error_keeps_fields_in_another_process(
    error: DataError, protocol: int
) -> None:
    error.add_note("noted")
    for other in (pickle.loads(pickle.dumps(error, protocol)), copy.deepcopy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_data_error_subclasses_carry_the_example() -> None:
    assert TooWideError(4, "too large", [1]).example == 4
    error = LatticeError(2, "its edges form a cycle:", [0, 1, 0])
    assert str(error) == "lattice 2: its edges form a cycle: 0 -> 1 -> 0"
    assert error.told("aba") == "its edges form a cycle: a -> b -> a"


@pytest.mark.parametrize(
    ("read", "text", "line"),
    [
        (data.read_columns, "a b\nc\n", 2),
        (data.read_crfsuite, "O\tw:1\nO\tw:x\n", 2),
        (data.read_svmhmm, "1 qid:1 3:1\n\n1 qid:1 x:1\n", 3),
        (data.read_lattices, '\n{"edges": [{"from": 0}]}\n', 2),
        (data.read_trees, "1\ta\n", 1),
        (data.read_brackets, "(S (A a)\n", 1),
        (data.read_csv, "a,b\n1,2\n3\n", 3),
        (data.read_gazetteer, "LOC\tRome\nParis\n", 2),
        (data.read_clusters, "a 1\nb\n", 2),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_data_error_of_a_file_has_its_line(
    read: Callable[[Path], object], text: str, line: int, tmp_path: Path
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read(path)
    error = caught.value
    assert (error.path, error.line) == (str(path), line)
    assert str(error).startswith(f"{path}:{line}: ")


def test_data_error_of_features_has_their_place() -> None:
    encoder = FeatureDictEncoder()
    with pytest.raises(DataError) as caught:
        encoder.fit_encode([[{}], [{}, {"a": object()}]])
    assert (caught.value.example, caught.value.part) == (1, 1)
    assert str(caught.value).startswith("sequence 1, token 1: feature 'a'")
    with pytest.raises(DataError) as caught:
        encoder.fit_encode_rows([{}, {"a": object()}])
    assert (caught.value.example, caught.value.part) == (1, None)


def test_data_error_of_a_lattice_is_about_its_edge() -> None:
    lattice = LatticeInput(
        [(0, 1), (1, 2, {"a": object()})], good=[[0, 1]], name="hush"
    )
    with pytest.raises(DataError) as caught:
        LatticeRanker().fit([lattice])
    assert str(caught.value).startswith("hush, edge 1: feature 'a'")
    assert (caught.value.example, caught.value.part) == (0, 1)
    alone = LatticeInput([(0, 1, {"a": 1})], good=[[0]], name="alone")
    with pytest.raises(DataError, match=r"^alone: all its paths are good") as caught:
        LatticeRanker().fit([alone])
    assert caught.value.example == 0


def test_data_error_of_a_graph_is_about_its_node() -> None:
    graph = GraphArrays([{"a": 1}, {"a": object()}], [(0, 1)])
    with pytest.raises(DataError, match="feature 'a'") as caught:
        GraphLabeler().fit([graph], [["x", "y"]])
    assert (caught.value.example, caught.value.part) == (0, 1)
