"""CRFsuite's and SVM-HMM's formats: round trips and line numbers in errors."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise.data import (
    read_crfsuite,
    read_svmhmm,
    write_crfsuite,
    write_svmhmm,
)
from partwise.errors import DataError

number = st.floats(allow_nan=False, allow_infinity=False)
# Colons and backslashes often, since they are what escaping is about.
name = st.text(
    st.sampled_from(":\\ab=# é")
    | st.characters(exclude_characters="\t\n\r\ufeff", exclude_categories=["Cs"]),
    min_size=1,
    max_size=6,
).filter(lambda text: text.strip(" "))
numbered = st.integers(1, 10**6).map(str)


def sequences_of(names: st.SearchStrategy[str], labels: st.SearchStrategy[str]):
    token = st.tuples(st.dictionaries(names, number, max_size=4), labels)
    return st.lists(st.lists(token, min_size=1, max_size=4), min_size=1, max_size=4)


def split(sequences):
    X = [[features for features, _ in tokens] for tokens in sequences]
    y = [[label for _, label in tokens] for tokens in sequences]
    return X, y


@given(sequences_of(name, name).map(split))
def test_crfsuite_written_comes_back(data) -> None:
    out = io.StringIO()
    write_crfsuite(out, *data)
    assert read_crfsuite(io.StringIO(out.getvalue(), newline="")) == data


@given(sequences_of(numbered, st.integers(1, 50).map(str)).map(split))
def test_svmhmm_written_comes_back(data) -> None:
    out = io.BytesIO()
    write_svmhmm(out, *data)
    assert read_svmhmm(io.BytesIO(out.getvalue())) == data


def test_crfsuite_escapes_values_and_sums() -> None:
    text = "L\\:1\ta\\:b:2.5\tc\\\\d\te\\f\tg:\tx\tx:2\t\ty\r\n\n\nO\n"
    X, y = read_crfsuite(io.StringIO(text, newline=""))
    features = {"a:b": 2.5, "c\\d": 1.0, "e\\f": 1.0, "g": 1.0, "x": 3.0, "y": 1.0}
    assert X == [[features], [{}]]
    assert y == [["L:1"], ["O"]]


def test_crfsuite_repeated_plain_attribute_is_summed() -> None:
    X, _ = read_crfsuite(io.StringIO("O\ta\tb\ta\n"))
    assert X == [[{"a": 2.0, "b": 1.0}]]


def test_crfsuite_without_labels() -> None:
    X, y = read_crfsuite(io.StringIO("w=a\tb:2\nw=c\n\nw=d\n"), labelled=False)
    assert X == [[{"w=a": 1.0, "b": 2.0}, {"w=c": 1.0}], [{"w=d": 1.0}]]
    assert y is None
    out = io.StringIO()
    write_crfsuite(out, X)
    assert read_crfsuite(io.StringIO(out.getvalue()), labelled=False) == (X, None)


def test_crfsuite_writes_feature_dicts_flat(tmp_path) -> None:
    token = {
        "word": "a:b",
        "title": True,
        "digit": False,
        "none": None,
        "next": {"word": "c"},
        "has": ["x", "y"],
        "len": np.float32(2.5),
    }
    path = tmp_path / "data.crfsuite.gz"
    write_crfsuite(path, [[token, ["bias"]]], [["O", "O"]])
    assert gzip.decompress(path.read_bytes()).startswith(b"O\tword=a\\:b\ttitle\t")
    X, _ = read_crfsuite(path)
    names = ["word=a:b", "title", "next:word=c", "has=x", "has=y", "len"]
    assert list(X[0][0]) == names
    assert X[0][0]["len"] == 2.5
    assert X[0][1] == {"bias": 1.0}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("O\tw:nan", 'the value of "w" is nan'),
        ("O\tw:-inf", 'the value of "w" is -inf'),
        ("O\tw:1e999", 'the value of "w" is inf'),
        ("O\tw:x", 'the value of "w" must be a number, found "x"'),
        ("O\tw:1:2", 'the value of "w" must be a number, found "1:2"'),
        ("O\t:2", '":2" has a value but no name'),
        ("\tw", "no label"),
        ("a:b\tw", "holds a colon"),
    ],
)
def test_crfsuite_errors_name_the_line(line: str, message: str) -> None:
    source = io.StringIO(f"O\ta\n\nO\tb\n{line}\n")
    with pytest.raises(DataError, match=f"^<input>:4: .*{message}"):
        read_crfsuite(source)


def test_svmhmm_lines_and_comments() -> None:
    text = (
        "# made by hand\n3 qid:1.1 7:1 12:-0.5e1 # Paris : #1\n\n"
        "1 qid:1.2\r\n2 qid:7 1:2"
    )
    X, y = read_svmhmm(io.StringIO(text, newline=""))
    assert X == [[{"7": 1.0, "12": -5.0}, {}], [{"1": 2.0}]]
    assert y == [["3", "1"], ["2"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 qid:2 3:nan", 'the value of "3" is nan'),
        ("1 qid:2 3:", 'the value of "3" must be a number'),
        ("1 qid:2 3", 'found "3"'),
        ("1 qid:2 0:1", 'found "0:1"'),
        ("1 qid:2 word:1", 'found "word:1"'),
        ("1 qid:2 3:1 3:2", "feature 3 is given twice"),
        ("1 qid:x 3:1", 'expected "tag qid:number'),
        ("1 3:1", 'expected "tag qid:number'),
        ("1", 'expected "tag qid:number'),
        ("1 qid:1 3:1", "sequence 1 began on line 1"),
    ],
)
def test_svmhmm_errors_name_the_line(line: str, message: str) -> None:
    source = io.StringIO(f"1 qid:1 1:1\n\n2 qid:2 1:1\n{line}\n")
    with pytest.raises(DataError, match=f"^<input>:4: .*{message}"):
        read_svmhmm(source)


def test_svmhmm_writes_features_in_order() -> None:
    out = io.StringIO()
    write_svmhmm(out, [[{12: 1, "7": True, 100: 0.5}]], [[3]])
    assert out.getvalue() == "3 qid:1 7:1.0 12:1.0 100:0.5\n"


@pytest.mark.parametrize("read", [read_crfsuite, read_svmhmm])
def test_formats_refuse_empty_missing_and_foreign_bytes(read, tmp_path) -> None:
    with pytest.raises(DataError, match="holds no tokens"):
        read(io.BytesIO(b"\n\n"))
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "nowhere")
    with pytest.raises(DataError, match=r"^<input>:2: byte 0xe9"):
        read(io.BytesIO(b"1 qid:1 1:1\n1 \xe9\n"))


@pytest.mark.parametrize("write", [write_crfsuite, write_svmhmm])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[{"1": 1}]], [["1", "2"]], "sequence 0: it has 1 tokens, but 2 labels"),
        ([[{"1": 1}]], [], "X has more sequences than y"),
        ([[{"1": 1}]], [["1"], ["1"]], "y has more sequences than X"),
        ([[{"1": 1}], []], [["1"], []], "sequence 1: it has no tokens"),
        ([[{"1": 1}, {"1": float("nan")}]], [["1", "1"]], 'token 1: .*"1" is nan'),
        ([[{"1": float("inf")}]], [["1"]], 'sequence 0, token 0: .*"1" is inf'),
        ([[{"a\tb": 1}]], [["1"]], "sequence 0, token 0"),
        ([[{"1": 1}]], [["a\nb"]], "sequence 0, token 0"),
        ([[{"1": 1}]], [[""]], "sequence 0, token 0"),
    ],
)
def test_formats_refuse_to_write_what_cannot_come_back(
    write, X, y, message: str, tmp_path
) -> None:
    path = tmp_path / "out"
    with pytest.raises(DataError, match=message):
        write(path, X, y)
    assert not list(tmp_path.iterdir())


def test_formats_refuse_tokens_of_the_wrong_kind() -> None:
    with pytest.raises(TypeError, match="a token must be a dict"):
        write_crfsuite(io.StringIO(), [["word"]], [["O"]])
    with pytest.raises(TypeError, match='"f" must be text, a number'):
        write_crfsuite(io.StringIO(), [[{"f": object()}]], [["O"]])
    with pytest.raises(DataError, match="neither label nor attributes"):
        write_crfsuite(io.StringIO(), [[{}]])
    with pytest.raises(DataError, match='feature "w=a" is not a number'):
        write_svmhmm(io.StringIO(), [[{"w": "a"}]], [["1"]])
