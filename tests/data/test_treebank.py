"""Treebanks: what is read, what is refused, and that files come back unchanged."""

from __future__ import annotations

import dataclasses
import gzip
import io
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partwise.data.tree_files import iter_trees, read_trees, write_trees
from partwise.data.treebank import Sentence
from partwise.errors import DataError

CONLLU = """\
# sent_id = 1
# text = Don't bark at#it.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\tMood=Imp\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tbark\tbark\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
3.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_

# sent_id = 2
1\tNew York\tNew York\tPROPN\tNNP\t_\t0\troot\t_\t_

"""
CONLLX = """\
1\tDogs\tdog\tN\tNNS\tnum=p\t2\tSBJ
2\tbark\tbark\tV\tVBP\t_\t0\tROOT

1\tHush\t_\tI\tUH\t_\t0\tROOT
"""
HEADS = "#\t#\t2\nbark\tVBP\t0\n\nHush\tUH\t0\n"
TEXTS = {"conllu": CONLLU, "conllx": CONLLX, "heads": HEADS}


def read(text: str, format: str | None = None) -> list[Sentence]:
    return read_trees(io.BytesIO(text.encode()), format)


def written(sentences, format: str | None = None) -> str:
    out = io.BytesIO()
    write_trees(out, sentences, format)
    return out.getvalue().decode()


class Pipe:
    """A binary stream that hands out a text in given pieces."""

    def __init__(self, pieces: list[str]) -> None:
        self.pieces = [piece.encode() for piece in pieces]

    def read(self, size: int = -1) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def test_treebank_conllu_columns_are_those_of_the_words() -> None:
    first, second = read(CONLLU)
    assert first.forms == ("Do", "n't", "bark", ".")
    assert first.lemmas == ("do", "not", "bark", ".")
    assert first.upos == ("AUX", "PART", "VERB", "PUNCT")
    assert first.xpos == ("VB", "RB", "VB", ".")
    assert first.feats == ("Mood=Imp", "_", "_", "_")
    assert first.heads == (3, 3, 0, 3)
    assert first.labels == ("aux", "advmod", "root", "punct")
    assert second.forms == ("New York",)
    assert (len(first), len(second)) == (4, 1)


def test_treebank_conllx_has_eight_columns_or_ten() -> None:
    first, second = read(CONLLX)
    assert first.upos == ("N", "V")
    assert first.xpos == ("NNS", "VBP")
    assert first.feats == ("num=p", "_")
    assert (first.heads, first.labels) == ((2, 0), ("SBJ", "ROOT"))
    assert second.verbatim is not None
    assert second.verbatim.format == "conllx"
    wide = "1\tHush\t_\tI\tUH\t_\t0\tROOT\t0\tROOT\n"
    assert read(wide, "conllx") == [second]


def test_treebank_the_one_tag_is_both_parts_of_speech() -> None:
    first, second = read(HEADS)
    assert first.forms == ("#", "bark")
    assert first.upos == first.xpos == ("#", "VBP")
    assert first.lemmas == first.feats == ("_", "_")
    assert (first.heads, first.labels) == ((2, 0), None)
    assert second.heads == (0,)


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n  \n",
        lambda text: "\n \t\n" + text.replace("\n\n", "\n\n\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n" + text + " ",
    ],
)
def test_treebank_files_come_back_byte_for_byte(format: str, change) -> None:
    text = change(TEXTS[format])
    sentences = read(text)
    assert written(sentences) == text
    assert {s.verbatim.format for s in sentences if s.verbatim} == {format}
    assert sentences[:2] == read(TEXTS[format])


# Whole sentences, and what may stand between them or be missing at the end.
pieces_of_files = st.lists(
    st.sampled_from(
        [
            CONLLU,
            "1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n\n",
            "# \u2028 comment\x85\n1\tA\t\u3000\t_\t\t_\t0\t_\t_\t\x0b\n \t\n",
            "# comment\n",
            "\n",
            " \n",
            "\t\n",
        ]
    ),
    max_size=6,
).map("".join)


@settings(max_examples=200)
@given(pieces_of_files, st.sampled_from(["\n", "\r\n"]), st.integers(0, 3), st.data())
def test_treebank_any_file_comes_back_whole_or_in_pieces(
    text: str, end: str, n_lost: int, data: st.DataObject
) -> None:
    tail = text[len(text) - n_lost :]
    text = (text if tail.strip("\n") else text.removesuffix(tail)).replace("\n", end)
    sentences = read(text, "conllu")
    assert written(sentences) == text
    # In pieces, from a pipe: the same words and the same text.
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    pipe = Pipe([piece for piece in pieces if piece])
    streamed = list(iter_trees(pipe, "conllu"))  # type: ignore[arg-type]
    assert written(streamed) == text
    assert [s for s in streamed if len(s)] == [s for s in sentences if len(s)]


def test_treebank_sentences_leave_a_pipe_as_soon_as_they_end() -> None:
    pipe = Pipe([HEADS[:6], HEADS[6:19], HEADS[19:]])
    sentences = iter_trees(pipe, "heads")  # type: ignore[arg-type]
    assert next(sentences).forms == ("#", "bark")
    assert pipe.pieces == [HEADS[19:].encode()]
    assert [s.forms for s in sentences] == [("Hush",)]


def test_treebank_comments_alone_are_a_sentence_without_words() -> None:
    text = "# only\n\n" + CONLLU + "# the end"
    sentences = read(text)
    assert list(map(len, sentences)) == [0, 4, 1, 0]
    assert sentences[0].heads == sentences[0].labels == ()
    assert written(s.with_tree(s.heads or (), s.labels) for s in sentences) == text
    assert written(sentences, "heads").count("\n\n") == 2
    assert read("") == []
    assert written(read("\n\n")) == "\n\n"


def test_treebank_another_tree_changes_nothing_else() -> None:
    sentences = read(CONLLU.replace("\n", "\r\n"))
    changed = sentences[0].with_tree(np.array([0, 1, 1, 1]), ["root", "b", "c", "d"])
    expected = (
        CONLLU.replace("\t3\taux\t", "\t0\troot\t")
        .replace("\t3\tadvmod\t", "\t1\tb\t")
        .replace("\t0\troot\t0:root", "\t1\tc\t0:root")
        .replace("\t3\tpunct\t", "\t1\td\t")
        .replace("\n", "\r\n")
    )
    assert written([changed, sentences[1]]) == expected
    # The old labels belong to the old tree.
    assert "\t0\t_\t3:aux\t_\r\n" in sentences[0].with_tree([0, 1, 1, 1]).to_text()


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_treebank_heads_can_be_the_last_column(mark: str, end: str) -> None:
    text = mark + "Dogs\tNNS\t_" + end + "bark\tVBP\t_" + end
    (sentence,) = read(text)
    assert sentence.heads is None
    expected = mark + "Dogs\tNNS\t2" + end + "bark\tVBP\t0" + end
    assert sentence.with_tree([2, 0]).to_text() == expected


def test_treebank_other_columns_can_be_changed_too() -> None:
    (sentence, _) = read(CONLLX)
    tagged = dataclasses.replace(sentence, xpos=("X1", "X2"), lemmas=("a", "b"))
    assert tagged.to_text() == (
        "1\tDogs\ta\tN\tX1\tnum=p\t2\tSBJ\n2\tbark\tb\tV\tX2\t_\t0\tROOT\n\n"
    )
    with pytest.raises(DataError, match=r"<input>:1: lemmas: word 2 has 'a\\tb'"):
        dataclasses.replace(sentence, lemmas=("a", "a\tb")).to_text()


def test_treebank_heads_written_strangely_stay_as_they_are() -> None:
    text = "Dogs\tNNS\t02\nbark\tVBP\t0\n"
    (sentence,) = read(text)
    assert sentence.heads == (2, 0)
    assert written([sentence.with_tree([2, 0])]) == text


def test_treebank_more_columns_are_kept() -> None:
    text = "1\tHush\t_\t_\t_\t_\t0\troot\t_\t_\tB-X\n"
    (sentence,) = read(text)
    assert sentence.with_tree([0], ["x"]).to_text() == text.replace("root", "x")


def test_treebank_long_sentences_are_read() -> None:
    n = 1200
    sentence = Sentence.from_columns(forms=["w"] * n, heads=range(n))
    assert read(sentence.to_text()) == [sentence]


words = st.lists(
    st.tuples(*[st.text("ab_# é\u3000\x85-.", min_size=1, max_size=3)] * 6), max_size=5
)


@given(words, st.data())
def test_treebank_sentences_made_in_python_are_read_back(rows, data) -> None:
    n = len(rows)
    forms, lemmas, upos, xpos, feats, labels = (
        zip(*rows, strict=True) if n else [()] * 6
    )
    heads = [
        data.draw(st.sampled_from([h for h in range(n + 1) if h != m]))
        for m in range(1, n + 1)
    ]
    known = data.draw(st.booleans())
    sentence = Sentence.from_columns(
        forms=forms,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        heads=heads if known else None,
        labels=labels if known else None,
    )
    assert read(written([sentence, sentence]), "conllu") == [sentence, sentence]
    if n:
        assert read(written([sentence] * 2, "conllx"), "conllx") == [sentence] * 2
        (back,) = read(written([sentence], "heads"), "heads")
        assert (back.forms, back.heads) == (sentence.forms, sentence.heads)


def test_treebank_missing_columns_count_as_not_given() -> None:
    sentence = Sentence.from_columns(forms=["Dogs", "bark"])
    assert sentence.upos == sentence.feats == ("_", "_")
    assert sentence.heads is sentence.labels is sentence.place is None
    assert sentence.to_text("heads") == "Dogs\t_\t_\nbark\t_\t_\n\n"


def test_treebank_conversion_keeps_words_and_trees() -> None:
    assert written(read(CONLLU), "heads") == (
        "Do\tAUX\t3\nn't\tPART\t3\nbark\tVERB\t0\n.\tPUNCT\t3\n\nNew York\tPROPN\t0\n\n"
    )
    assert written(read(HEADS), "conllu").startswith(
        "1\t#\t_\t#\t#\t_\t2\t_\t_\t_\n2\tbark\t_\tVBP\tVBP\t_\t0\t_\t_\t_\n\n1\tHush"
    )
    only_fine = Sentence.from_columns(forms=["Hush"], xpos=["UH"], heads=[0])
    assert only_fine.to_text("heads") == "Hush\tUH\t0\n\n"


def test_treebank_files_written_together_stay_apart() -> None:
    dogs, hush = read(HEADS)
    other = Sentence.from_columns(forms=["Hm"], heads=[0])
    mixed = [hush, dogs, other, read("\ufeff" + HEADS)[0]]
    assert read(written(mixed)) == read(written(mixed, "heads"))
    assert [s.forms for s in read(written(mixed))] == [s.forms for s in mixed]
    for text in ("Hush\tUH\t0", "Hush\tUH\t0\r\n", "Hush\tUH\t0\n ", HEADS):
        sentences = read(text) * 2
        assert read(written(sentences)) == sentences


def test_treebank_paths_gzip_and_streams_are_taken(tmp_path, monkeypatch, capsys):
    path = tmp_path / "a.conllu.gz"
    write_trees(path, read(CONLLU))
    assert gzip.decompress(path.read_bytes()).decode() == CONLLU
    sentences = read_trees(path)
    assert sentences == list(iter_trees(str(path))) == read(CONLLU)
    assert sentences[0].place == f"{path}:4"
    assert sentences[1].place == f"{path}:11"
    monkeypatch.setattr("sys.stdin", io.StringIO(HEADS))
    write_trees("-", iter_trees("-"))
    assert capsys.readouterr().out == HEADS


def test_treebank_no_half_written_file_is_left(tmp_path) -> None:
    path = tmp_path / "a.conllu"
    bad = dataclasses.replace(read(CONLLU)[0], upos=("A", "B\n", "C", "D"))
    with pytest.raises(DataError, match="upos: word 2"):
        write_trees(path, [read(CONLLU)[1], bad])
    assert os.listdir(tmp_path) == []


HUSH = "1\tHush\t_\t_\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "format", "message"),
    [
        (HUSH + "2\tx\t_\n", None, ":2: expected 10 columns as in line 1, found 3"),
        (HUSH + "\n# c\n" + HUSH[2:], None, ":4: expected 10 columns .* found 9"),
        ("1\ta\t_\t_\t_\t_\t0\n", "conllu", ":1: expected 10 columns, found 7"),
        ("1\ta\t_\t_\t_\t_\t0\n", "conllx", ":1: expected 8 or 10 columns, found 7"),
        ("a\tB\n", "heads", ":1: expected 3 columns, found 2"),
        ("# c\na b c\n", None, ":2: expected 10 columns .CoNLL-U.* found 1 .*a b c"),
        (HUSH + HUSH, None, ':2: expected word 2, found "1"'),
        ("\n\n" + HUSH.replace("1", "2"), None, ':3: expected word 1, found "2"'),
        (HUSH.replace("1", "x"), None, ':1: expected word 1, found "x"'),
        ("a\tB\tx\n", None, ':1: head "x" is not the number'),
        ("a\tB\t-1\n", None, ':1: head "-1" is not the number'),
        ("a\tB\t\u0661\n", None, ":1: head .* is not the number"),
        ("a\tB\t" + "9" * 5000, None, ":1: head .* is not the number"),
        ("a\tB\t0\n\na\tB\t0\nb\tC\t3\n", None, ":4: head 3 is out of range .*2 words"),
        ("a\tB\t0\nb\tC\t2\n", None, ":2: head 2 is the word itself"),
        ("a\tB\t0\nb\tC\t_\n", None, ":2: the word has no head, but others"),
    ],
)
def test_treebank_mistakes_name_the_line(text: str, format, message: str) -> None:
    for end in ("\n", "\r\n"):
        source = text.replace("\n", end)
        with pytest.raises(DataError, match="<input>" + message):
            read(source, format)
        with pytest.raises(DataError, match="<input>" + message):
            list(iter_trees(io.BytesIO(source.encode()), format))


def test_treebank_bytes_that_are_no_text_name_the_line() -> None:
    with pytest.raises(DataError, match="<input>:2: byte 0xff is not valid UTF-8"):
        read_trees(io.BytesIO(b"a\tB\t0\n\xff\tB\t1\n"))
    (sentence,) = read_trees(io.BytesIO(b"\xe9\tB\t0\n"), encoding="latin-1")
    assert sentence.forms == ("é",)


def test_treebank_names_decide_before_content(tmp_path) -> None:
    path = tmp_path / "a.conllu"
    path.write_text(HEADS)
    with pytest.raises(DataError, match="expected 10 columns"):
        read_trees(path)
    assert len(read_trees(path, "heads")) == 2


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ({"forms": ["a"], "upos": ["A", "B"]}, DataError, "1 forms, but 2 upos"),
        ({"forms": ["a", "b"], "heads": [2]}, DataError, "2 forms, but 1 heads"),
        ({"forms": ["a"], "heads": [1]}, DataError, "word 1: head 1 is the word"),
        ({"forms": ["a"], "heads": [2]}, DataError, "word 1: head 2 is out of range"),
        ({"forms": ["a", ""]}, DataError, "forms: word 2 has ''"),
        ({"forms": ["a"], "labels": ["x\ty"]}, DataError, "labels: word 1 has"),
        ({"forms": "ab"}, TypeError, "forms must be a list of strings"),
        ({"forms": [1]}, TypeError, "forms: word 1 has 1, which is not a string"),
        ({"forms": ["a"], "heads": [0.5]}, TypeError, "integer"),
    ],
)
def test_treebank_bad_columns_are_refused(columns, error, message: str) -> None:
    with pytest.raises(error, match=message):
        Sentence.from_columns(**columns)


def test_treebank_unknown_formats_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="choose conllu, conllx or heads"):
        read(HEADS, "conll")
    with pytest.raises(ValueError, match="choose conllu, conllx or heads"):
        write_trees(tmp_path / "a", [], "conll")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "at", "expected"),
    [
        ("1-2", 1, ':2: the multiword token "1-2" belongs before word 1'),
        ("2-1", 1, ':2: the multiword token "2-1" ends at no word'),
        ("1-4", 0, ':1: the multiword token "1-4" ends at no word'),
        ("3.1", 1, ':2: the empty node "3.1" comes after word 1'),
    ],
)
def test_lines_that_are_no_words_stand_where_their_words_are(
    number: str, at: int, expected: str
) -> None:
    rest = "\t_" * 8
    lines = [f"{i}\tdog{rest}" for i in (1, 2)]
    lines.insert(at, f"{number}\tdogs{rest}")
    with pytest.raises(DataError) as caught:
        read_trees(io.StringIO("\n".join(lines) + "\n"), "conllu")
    assert expected in str(caught.value)


def test_ranges_do_not_overlap_and_words_are_not_empty() -> None:
    rest = "\t_" * 8
    words = [f"{i}\tdog{rest}" for i in (1, 2, 3)]
    overlapping = [f"1-2\tx{rest}", words[0], f"2-3\ty{rest}", *words[1:]]
    with pytest.raises(DataError, match=':3: the multiword token "2-3" overlaps'):
        read_trees(io.StringIO("\n".join(overlapping)), "conllu")
    with pytest.raises(DataError, match=":2: the word is empty"):
        read_trees(io.StringIO("\n".join([words[0], f"2\t{rest}"])), "conllu")
