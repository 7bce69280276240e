"""Column files: what is read, what is refused, and what comes back."""

from __future__ import annotations

import gzip
import io
import os
import re
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.data import (
    ColumnData,
    iter_columns,
    open_output,
    read_columns,
    resolve_column,
    write_columns,
)
from partwise.data.files import read_blocks, read_lines, replace_file
from partwise.errors import DataError

TEXT = "Paris NNP B-LOC\nsleeps VBZ O\n\nHush UH O\n"
SENTENCES = [
    [("Paris", "NNP", "B-LOC"), ("sleeps", "VBZ", "O")],
    [("Hush", "UH", "O")],
]


def read_slowly(text: str) -> list[list[tuple[str, ...]]] | int:
    """Read line by line; the obvious way. A number is that of a ragged line."""
    sentences: list[list[tuple[str, ...]]] = []
    inside = False
    width = None
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        cells = tuple(cell for cell in re.split("[ \t]+", line) if cell)
        if not cells:
            inside = False
            continue
        width = width or len(cells)
        if len(cells) != width:
            return number
        if not inside:
            sentences.append([])
        inside = True
        sentences[-1].append(cells)
    return sentences


def failing_line(error: DataError) -> int:
    return int(str(error).split(":")[1])


# Blanks that split, blanks that do not, and both line ends.
messy_text = st.text(alphabet="ab \t\n\n\r\x0b\x1c\x85\xa0\u2028\u3000é#", max_size=40)
# Well formed more often than not, so that pieces and whole can be compared.
neat_text = st.lists(
    st.sampled_from(["a b", "a\tb", " é  b ", "", "", "  ", "a b\r", "a", "a b c"]),
    max_size=12,
).map("\n".join)


@settings(max_examples=300)
@given(messy_text | neat_text)
def test_columns_agree_with_reading_line_by_line(text: str) -> None:
    expected = read_slowly(text)
    source = io.BytesIO(text.encode())
    if isinstance(expected, int):
        with pytest.raises(DataError, match="columns, found") as caught:
            read_columns(source)
        assert failing_line(caught.value) == expected
    elif not expected:
        with pytest.raises(DataError, match="no tokens"):
            read_columns(source)
    else:
        assert list(read_columns(source)) == expected


@settings(max_examples=300)
@given(messy_text | neat_text, st.integers(1, 12), st.booleans())
def test_columns_in_pieces_are_the_whole(text: str, chunk: int, binary: bool) -> None:
    expected = read_slowly(text)
    source = io.BytesIO(text.encode()) if binary else io.StringIO(text, newline="")
    pieces = iter_columns(source, chunk=chunk)
    if isinstance(expected, int):
        with pytest.raises(DataError, match="columns, found") as caught:
            list(pieces)
        assert failing_line(caught.value) == expected
    else:
        assert [sentence for piece in pieces for sentence in piece] == expected


def test_columns_pieces_are_small() -> None:
    text = (TEXT + "\n") * 1000
    pieces = list(iter_columns(io.StringIO(text), chunk=200))
    assert len(pieces) > 100
    assert sum(piece.n_sentences for piece in pieces) == 2000


def test_columns_pipe_is_answered_while_open() -> None:
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as source, os.fdopen(writer, "wb") as sink:
        pieces = iter_columns(source)
        for word in (b"one", b"two"):
            sink.write(word + b"\n\n")
            sink.flush()
            assert next(pieces).columns == [[word.decode()]]


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.rstrip("\n").encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        ("\n\n \t\n" + TEXT.replace("\n\n", "\n\n\n \n") + "\n\n").encode(),
        TEXT.replace(" ", " \t ").encode(),
        gzip.compress(TEXT.encode()),
        gzip.compress(TEXT[:20].encode()) + gzip.compress(TEXT[20:].encode()),
        gzip.compress(TEXT.encode()) + b"\0" * 7,
    ],
    ids="plain unended crlf bom blanks tabs gzip members padded".split(),
)
def test_columns_variants_read_the_same(content: bytes, tmp_path) -> None:
    path = tmp_path / "data.conll"  # gzip is known by content, not by name
    path.write_bytes(content)
    assert list(read_columns(path)) == SENTENCES
    assert list(read_columns(io.BytesIO(content))) == SENTENCES
    pieces = iter_columns(str(path), chunk=5)
    assert [s for piece in pieces for s in piece] == SENTENCES


def test_columns_stdin_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert list(read_columns("-")) == SENTENCES
    monkeypatch.setattr(sys, "stdin", io.StringIO("a b\nc\n"))
    with pytest.raises(DataError, match="<stdin>:2: "):
        read_columns("-")


def test_columns_keep_other_blanks_in_tokens() -> None:
    data = read_columns(io.StringIO("10\xa0000 CD\nx\u2028y\x85 NN\n", newline=""))
    assert data.columns[0] == ["10\xa0000", "x\u2028y\x85"]


def test_columns_separator_keeps_spaces_and_empty_cells() -> None:
    text = "New York\t\tLOC\nis\tVBZ\t\n\t\t\nbig\tJJ\tO\n"
    data = read_columns(io.StringIO(text), separator="\t")
    assert list(data) == [
        [("New York", "", "LOC"), ("is", "VBZ", "")],
        [("big", "JJ", "O")],
    ]


def test_columns_comments_only_when_asked() -> None:
    text = "# b\na b\n# b\nc d\n\n# b\n"
    assert read_columns(io.StringIO(text)).n_tokens == 5
    data = read_columns(io.StringIO(text + "e f\n"), comments="#")
    assert list(data) == [[("a", "b"), ("c", "d")], [("e", "f")]]
    with pytest.raises(DataError, match=":4: expected 1 columns, found 2"):
        read_columns(io.StringIO("# x\na\n#\nb c\n"), comments="#")


def test_columns_docstart_only_when_asked() -> None:
    text = "a O\n-DOCSTART- O\nb O\n"
    assert len(read_columns(io.StringIO(text))) == 1
    data = read_columns(io.StringIO(text), skip_docstart=True)
    assert data.column_sequences(0) == [["a"], ["b"]]


def test_columns_ragged_line_is_shown(tmp_path) -> None:
    path = tmp_path / "train.conll"
    path.write_text("a b c\n" * 1041 + "Paris NNP\n" + "a b c d\n")
    expected = f'{path}:1042: expected 3 columns, found 2 (line: "Paris NNP")'
    for read in (read_columns, lambda p: list(iter_columns(p, chunk=100))):
        with pytest.raises(DataError) as caught:
            read(path)
        assert str(caught.value) == expected


def test_columns_ragged_lines_do_not_cancel_out() -> None:
    with pytest.raises(DataError, match=":2: expected 2 columns, found 1"):
        read_columns(io.StringIO("a b\nc\nd e f\n"))


def test_columns_number_can_be_demanded() -> None:
    with pytest.raises(DataError, match=":1: expected 2 columns, found 3"):
        read_columns(io.StringIO(TEXT), n_columns=2)
    assert read_columns(io.StringIO(TEXT), n_columns=3).n_columns == 3


@pytest.mark.parametrize("chunk", [1, 3, 1 << 20])
@pytest.mark.parametrize(
    ("content", "line"),
    [(b"a b\nc \xe9\nd e\n", 2), (b"\xff", 1), (b"a b\n\nc d\ne \xc3", 4)],
)
def test_columns_bytes_that_are_not_utf8_name_the_line(
    content: bytes, line: int, chunk: int
) -> None:
    with pytest.raises(DataError, match=f"^<input>:{line}: byte 0x.. is not .* UTF-8"):
        list(iter_columns(io.BytesIO(content), chunk=chunk))
    with pytest.raises(DataError, match=f"^<input>:{line}: byte"):
        read_columns(io.BytesIO(content))


def test_columns_other_encodings_can_be_named() -> None:
    text = "é b\n\nù d\n"
    for encoding in ("latin-1", "utf-16"):
        data = read_columns(io.BytesIO(text.encode(encoding)), encoding=encoding)
        assert data.columns == [["é", "ù"], ["b", "d"]]


@pytest.mark.parametrize("content", [b"", b"\n \n\t\n", gzip.compress(b"", mtime=0)])
def test_columns_empty_file_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^<input>: holds no tokens"):
        read_columns(io.BytesIO(content))
    assert list(iter_columns(io.BytesIO(content))) == []


def test_columns_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.conll: no such file"):
        read_columns(tmp_path / "nowhere.conll")
    with pytest.raises(DataError, match="is a folder"):
        read_columns(tmp_path)


def test_columns_damaged_gzip_is_refused() -> None:
    packed = gzip.compress(TEXT.encode() * 100)
    for end in (3, 12, len(packed) // 2, len(packed) - 1):
        with pytest.raises(DataError, match="ends too early"):
            read_columns(io.BytesIO(packed[:end]))
    flipped = bytearray(packed)
    flipped[-6] ^= 1  # the checksum
    with pytest.raises(DataError, match="damaged gzip"):
        read_columns(io.BytesIO(bytes(flipped)))
    with pytest.raises(DataError, match="damaged gzip"):
        read_columns(io.BytesIO(packed + b"junk"))


@pytest.mark.parametrize(
    "options",
    [
        *({"separator": separator} for separator in ("", "\n", "||", "é")),
        {"n_columns": 0},
        {"comments": ""},
    ],
)
def test_columns_senseless_options_are_refused(options) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        read_columns(io.StringIO(TEXT), **options)


def test_column_data_sizes_and_slices() -> None:
    data = ColumnData.from_sentences(SENTENCES)
    assert (data.n_sentences, data.n_tokens, data.n_columns) == (2, 3, 3)
    assert data.ptr.dtype == np.int64
    assert data.sentence(-1) == SENTENCES[1]
    assert data.column_sequences(1) == [["NNP", "VBZ"], ["UH"]]
    assert data.without(1).sentence(1) == [("Hush", "O")]
    assert data == read_columns(io.StringIO(TEXT))
    assert data != data.without(0)
    with pytest.raises(IndexError):
        data.sentence(2)


def test_column_data_takes_strings_lists_and_empty_sentences() -> None:
    data = ColumnData.from_sentences(iter([["a", ["b"]], [], [("c",)]]))
    assert data.columns == [["a", "b", "c"]]
    assert data.ptr.tolist() == [0, 2, 2, 3]
    assert ColumnData.from_sentences([]).n_tokens == 0


def test_column_data_refuses_what_does_not_fit() -> None:
    with pytest.raises(DataError, match="sentence 1, token 1: expected 1 columns"):
        ColumnData.from_sentences([["a"], ["b", ("c", "d")]])
    with pytest.raises(DataError, match=r"sentence 0, token 0: expected 1 .* found 0"):
        ColumnData.from_sentences([[()]])
    with pytest.raises(TypeError, match="sentence 1, token 0: 3 is not a string"):
        ColumnData.from_sentences([["a"], [(3,)]])
    with pytest.raises(TypeError, match="sentence 0 is a string"):
        ColumnData.from_sentences(["a b"])
    with pytest.raises(ValueError, match="ptr ends at 2"):
        ColumnData([["a"]], np.array([0, 2]))
    with pytest.raises(ValueError, match="never decrease"):
        ColumnData([["a"]], np.array([0, 2, 1]))


def test_resolve_column_names_the_columns_there_are() -> None:
    data = ColumnData.from_sentences(SENTENCES)
    assert [resolve_column(data, c) for c in range(-3, 3)] == [0, 1, 2, 0, 1, 2]
    for c in (3, -4):
        with pytest.raises(DataError, match=f'no column {c} .* 2: "B-LOC"'):
            resolve_column(data, c)
    with pytest.raises(DataError, match="only column"):
        ColumnData.from_sentences([["a"]]).without(0)


cell = st.text(
    st.characters(exclude_characters=" \t\n\r\ufeff", exclude_categories=["Cs"]),
    min_size=1,
    max_size=4,
)


@given(
    st.lists(st.lists(st.tuples(cell, cell), min_size=1), min_size=1),
    st.sampled_from([" ", "\t"]),
)
def test_columns_written_come_back(sentences, separator: str) -> None:
    data = ColumnData.from_sentences(sentences)
    buffer = io.BytesIO()
    write_columns(buffer, data, data.column_sequences(1), separator=separator)
    back = read_columns(io.BytesIO(buffer.getvalue()))
    assert back.without(-1) == data
    assert back.columns[2] == data.columns[1]
    assert back.separator == separator


@pytest.mark.parametrize("name", ["out.conll", "out.conll.gz"])
def test_columns_written_to_a_path_come_back(name: str, tmp_path) -> None:
    data = read_columns(io.StringIO(TEXT.replace(" ", "\t")))
    path = tmp_path / name
    write_columns(path, data, [[1, 2], [3]])
    content = path.read_bytes()
    text = gzip.decompress(content) if name.endswith(".gz") else content
    assert text.decode().startswith("Paris\tNNP\tB-LOC\t1\n")
    assert read_columns(path).columns[3] == ["1", "2", "3"]
    write_columns(path, data, [[1, 2], [3]])
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == [name]


def test_columns_written_to_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    write_columns("-", SENTENCES)
    assert capsys.readouterr().out == TEXT + "\n"


def test_columns_written_piece_by_piece_are_the_file() -> None:
    out = io.StringIO()
    for piece in iter_columns(io.StringIO(TEXT), chunk=30):
        write_columns(out, piece)
    assert out.getvalue() == TEXT + "\n"


@pytest.mark.parametrize(
    ("sentences", "separator"),
    [
        ([["a", "b c"]], " "),
        ([["a", ""]], " "),
        ([["a", ""]], "\t"),
        ([["a\tb", "c"]], "\t"),
        ([["a", "b\nc"]], " "),
        ([[("a", "b"), ("a\nb", "c")]], "\t"),
        ([["a"], []], " "),
    ],
)
def test_columns_that_would_not_come_back_are_refused(
    sentences, separator, tmp_path
) -> None:
    path = tmp_path / "out"
    with pytest.raises(DataError, match="cannot"):
        write_columns(path, sentences, separator=separator)
    assert not os.listdir(tmp_path)


def test_columns_extra_must_fit() -> None:
    with pytest.raises(DataError, match=r"sentence 1 has 1 tokens, .* has 2"):
        write_columns(io.StringIO(), SENTENCES, [["x", "y"], ["z", "z"]])
    with pytest.raises(DataError, match="1 sentences, the data has 2"):
        write_columns(io.StringIO(), SENTENCES, [["x", "y"]])


def test_output_appears_complete_or_not_at_all(tmp_path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    path.chmod(0o640)

    def fail() -> None:
        with open_output(path) as out:
            out.write("new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["model"]
    with open_output(path) as out:
        out.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name != "posix", reason="links and devices of POSIX")
def test_output_follows_links_and_spares_devices(tmp_path) -> None:
    real = tmp_path / "real"
    link = tmp_path / "link"
    link.symlink_to(real)
    with replace_file(link) as out:
        out.write(b"x")
    assert link.is_symlink()
    assert real.read_bytes() == b"x"
    with replace_file("/dev/null") as out:
        out.write(b"x")
    assert not os.path.isfile("/dev/null")


def test_output_that_cannot_be_written_is_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        write_columns(tmp_path / "no" / "out.conll", SENTENCES)
    assert caught.value.filename == str(tmp_path / "no" / "out.conll")
    with pytest.raises(IsADirectoryError):
        write_columns(tmp_path, SENTENCES)


@given(st.text(alphabet="ab\r\né", max_size=20), st.integers(1, 5))
def test_blocks_and_lines_do_not_depend_on_block_size(text: str, size: int) -> None:
    expected = text.replace("\r\n", "\n")
    source = io.BytesIO(text.encode())
    assert "".join(read_blocks(source, size=size)) == expected
    lines = expected.split("\n")
    if not lines[-1]:
        lines.pop()
    assert list(read_lines(io.BytesIO(text.encode()))) == list(enumerate(lines, 1))


def test_columns_refuse_feature_dicts() -> None:
    with pytest.raises(DataError, match="feature dicts need no template"):
        ColumnData.from_sentences([[{"word": "Paris"}]])
