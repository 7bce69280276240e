"""Word vectors: reading every format, looking words up, and what is refused."""

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from partwise import DataError, WordVectors
from partwise.data import read_vectors

MATRIX = np.array([[0.5, -1.0, 2.0], [1e-3, 4.0, 0.0]], np.float32)
LINES = "the 0.5 -1 2\nof 1e-3 4 0\n"


@pytest.mark.parametrize(
    "text",
    [LINES, "2 3\n" + LINES, LINES.replace("\n", " \n"), LINES.replace(" ", "\t")],
)
def test_word_vectors_of_every_text_format_are_the_same(text: str) -> None:
    words, matrix = read_vectors(io.StringIO(text))
    assert words == ["the", "of"]
    assert matrix.dtype == np.float32
    assert (matrix == MATRIX).all()


def test_word_vectors_from_files_are_named_after_them(tmp_path: Path) -> None:
    (tmp_path / "glove.6B.txt.gz").write_bytes(gzip.compress(LINES.encode()))
    read = WordVectors.read(tmp_path / "glove.6B.txt.gz")
    assert (read.name, read.width, list(read.words)) == ("glove.6B", 3, ["the", "of"])


def test_word_vectors_of_numpy_files_have_their_words_beside_them(
    tmp_path: Path,
) -> None:
    np.save(tmp_path / "v.npy", MATRIX.astype(np.float64))
    with pytest.raises(DataError, match=r"v\.npy: has no list of words .*v\.words"):
        WordVectors.read(tmp_path / "v.npy")
    (tmp_path / "v.words").write_text("the\nof\n")
    read = WordVectors.read(tmp_path / "v.npy")
    assert read.checksum == WordVectors(["the", "of"], MATRIX).checksum
    (tmp_path / "more.txt").write_text("the\nof\nand\n")
    with pytest.raises(DataError, match=r"has 2 rows, but .*more\.txt lists 3 words"):
        WordVectors.read(tmp_path / "v.npy", words=tmp_path / "more.txt")
    assert WordVectors.read(tmp_path / "v.npy", limit=1, words=None).words == ("the",)
    (tmp_path / "bad.npy").write_bytes(b"no")
    with pytest.raises(DataError, match=r"bad\.npy: is not a NumPy file"):
        WordVectors.read(tmp_path / "bad.npy")


def test_word_vectors_take_words_with_blanks_and_the_first_of_two() -> None:
    text = "a 1 2\n. . . 3 4\na 5 6\n"
    words, matrix = read_vectors(io.StringIO(text))
    assert words == ["a", ". . ."]
    assert matrix.tolist() == [[1, 2], [3, 4]]
    assert read_vectors(io.StringIO(text), limit=1)[0] == ["a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a 1 2\nb 1\n",
            "<input>:2: 1 numbers after the word, expected 2, as in line 1",
        ),
        ("2 2\na 1 2\nb 1\n", "<input>:3: 1 numbers after the word, expected 2"),
        ("a 1 2\nb 1 x\n", "<input>:2: not all of the last 2 fields are numbers"),
        ("a 1 2\nb nan 1\n", "<input>:2: a number of the vector is not finite"),
        ("a 1 2\nb 1e99 1\n", "<input>:2: a number of the vector is not finite"),
        ("3 2\na 1 2\nb 1 2\n", "announces 3 words, but there are 2"),
        ("a\n", "<input>:1: a word without a vector"),
        ("", "holds no vectors"),
    ],
)
def test_word_vectors_refuse_bad_lines_with_their_number(
    text: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_vectors(io.StringIO(text))


def test_word_vectors_of_unknown_words_are_that_of_unk() -> None:
    vectors = WordVectors(["the", "<unk>"], MATRIX[:, :2])
    values, known = vectors.look_up(["THE", "xyz", None])
    assert values.tolist() == MATRIX[[0, 1, 1], :2].tolist()
    assert known.all()


def test_word_vectors_refuse_what_is_no_table() -> None:
    for words, matrix, message in (
        (["a"], MATRIX, "2 vectors for 1 words"),
        (["a", "a"], MATRIX, "twice"),
        (["a"], [1.0], "must be a matrix"),
        (["a"], [[np.nan]], "finite"),
    ):
        with pytest.raises(ValueError, match=message):
            WordVectors(words, matrix)


@given(st.text(alphabet="ab 01.-\n\te", max_size=40))
def test_word_vectors_read_anything_or_say_where_it_is_wrong(text: str) -> None:
    problem = ""
    words, matrix = ["?"], np.zeros((1, 1))
    try:
        words, matrix = read_vectors(io.StringIO(text))
    except DataError as error:
        problem = str(error)
    assert not problem or "<input>" in problem
    assert len(words) == len(matrix) > 0
    assert np.isfinite(matrix).all()
