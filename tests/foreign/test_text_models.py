"""Text models of CRF++ and Wapiti: read, used, and refused where they are broken."""

from pathlib import Path

import numpy as np
import pytest

import partwise
from partwise.errors import ModelFileError
from partwise.foreign import read_crfpp, read_wapiti

CRFPP = """\
version: 100
cost-factor: 2
maxid: 18
xsize: 1

D
N

U00:%x[0,0]
U01:%x[-1,0]/%x[0,0]
B
B01:%x[0,0]

0 U00:dog
2 U00:the
4 U01:_B-1/the
6 U01:a/b/c
8 B
12 B01:dog

-1
1
2
-2
0.5
0
0.25
-0.25
0
1
-1
0
0
0.125
0
0
7
7
"""
WAPITI = """\
#mdl#2#4
#rdr#1/1/0
9:u:%x[0,0],
#qrk#2
1:D,
1:N,
#qrk#3
5:u:dog,
5:u:the,
1:b,
1=0x1p+0
2=0x1p+1
5=0x1.8p+0
6=-0x1p+0
"""


@pytest.mark.parametrize(
    ("words", "labels"),
    [(["the", "dog"], ["D", "N"]), (["dog"], ["N"]), (["x", "y"], ["D", "N"])],
)
def test_crfpp_model_tags_as_its_weights_say(
    tmp_path: Path, words: list[str], labels: list[str]
) -> None:
    """By enumeration, with the weights of the file in one's own hands."""
    path = tmp_path / "model.txt"
    path.write_text(CRFPP)
    model = partwise.load(path)
    table = {"U00:dog": (-1, 1), "U00:the": (2, -2), "U01:_B-1/the": (0.5, 0)}
    moves = np.array([[0, 1], [-1, 0]])
    own = np.array([[0, 0.125], [0, 0]])

    def score(y: tuple[int, ...]) -> float:
        total, before = 0.0, "_B-1"
        for t, word in enumerate(words):
            for name in (f"U00:{word}", f"U01:{before}/{word}"):
                total += table.get(name, (0, 0))[y[t]]
            if t:
                total += moves[y[t - 1], y[t]]
                total += own[y[t - 1], y[t]] if word == "dog" else 0.0
            before = word
        return 2 * total

    outputs = list(np.ndindex(*[2] * len(words)))
    best = max(outputs, key=score)
    assert [["D", "N"][k] for k in best] == labels
    assert model.predict([[(word,) for word in words]]) == [labels]
    z = sum(np.exp(score(y)) for y in outputs)
    marginals = model.predict_marginals([[(word,) for word in words]])[0]
    for t in range(len(words)):
        mass = sum(np.exp(score(y)) for y in outputs if y[t] == 0) / z
        assert marginals[t, 0] == pytest.approx(mass, rel=1e-9)


@pytest.mark.parametrize("cells", [("a", "b/c"), ("a/b", "c")])
def test_crfpp_names_that_can_be_read_in_two_ways_are(
    tmp_path: Path, cells: tuple[str, str]
) -> None:
    path, saved = tmp_path / "model.txt", tmp_path / "model.partwise"
    path.write_text(CRFPP)
    partwise.convert(path, saved)
    for model in (partwise.load(path), partwise.load(saved)):
        marginals = model.predict_marginals([[(cell,) for cell in cells]])[0]
        plain = model.predict_marginals([[("p",), ("q",)]])[0]
        assert marginals[1, 0] > plain[1, 0] + 0.05


def test_wapiti_model_reads_and_tags(tmp_path: Path) -> None:
    path = tmp_path / "model.wac"
    path.write_text(WAPITI)
    model = partwise.load(path)
    assert model.predict([[["u:the"], ["u:dog"]]]) == [["D", "N"]]
    assert model.transitions_.tolist() == [[0.0, 1.5], [-1.0, 0.0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("maxid: 18", "maxid: 19"), "there are 18 weights, but the header says 19"),
        (("12 B01:dog", "16 B01:dog"), ":19: attribute 'B01:dog' has no weights"),
        (("2 U00:the", "x U00:the"), ":15: expected the number of a weight"),
        (("\n0.125\n", "\nnan\n"), "a weight is nan, not a finite number"),
        (("cost-factor: 2", "cost: 2"), ":2: expected 'cost-factor: ...'"),
        (("\nN\n", "\nD\n"), "or one occurs twice"),
    ],
)
def test_crfpp_model_that_is_broken_is_refused(
    change: tuple[str, str], message: str
) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_crfpp(CRFPP.replace(*change).encode())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("#mdl#2#4", "#mdl#0#4"), "only chains"),
        (("#mdl#2#4", "#mdl#2#5"), "expected the number of a weight, found ''"),
        (("5=0x1.8p+0", "99=0x1p+0"), ":13: weight 99 is not one of the 8 weights"),
        (("5:u:dog,", "6:u:dog,"), ":8: expected a obs as LENGTH:TEXT,"),
        (("1:b,", "3:b:x,"), "is a feature of transitions"),
        (("1:b,", "1:x,"), "begins with none of u, b"),
    ],
)
def test_wapiti_model_that_is_broken_is_refused(
    change: tuple[str, str], message: str
) -> None:
    with pytest.raises(ModelFileError, match=message):
        read_wapiti(WAPITI.replace(*change).encode())


@pytest.mark.parametrize("text", [CRFPP, WAPITI], ids=["crfpp", "wapiti"])
def test_text_model_cut_short_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "model"
    for size in range(12, len(text) - 3, 7):
        path.write_text(text[:size])
        with pytest.raises(ModelFileError, match=r"model:\d+: "):
            partwise.load(path)
