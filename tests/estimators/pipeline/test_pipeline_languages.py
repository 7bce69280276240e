"""Pipelines of treebanks unlike English: invented, with what such treebanks have."""

import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import partwise
from partwise import Pipeline
from partwise.data import Sentence, read_trees, text_of
from partwise.estimators.pipeline.by_heart import ByHeart, follows
from partwise.metrics import conll18_scores

Token = tuple[str, Sequence[str], bool]
"""What is written, its words, and whether a space follows."""


def chinese(rng: random.Random) -> list[Token]:
    verb, thing = rng.choice(["看", "喜欢", "买了"]), rng.choice(["书", "苹果", "电影"])
    who = rng.choice(["我", "老师", "孩子们"])
    return [(word, [word], False) for word in (who, verb, thing, rng.choice("。！"))]  # noqa: RUF001


def vietnamese(rng: random.Random) -> list[Token]:
    who = rng.choice(["Sinh viên", "Giáo viên", "Tôi"])
    verb = rng.choice(["học", "nghiên cứu"])
    thing = rng.choice(["tiếng Việt", "sách", "thành phố Hồ Chí Minh"])
    return [(word, [word], word != thing) for word in (who, verb, thing, ".")]


def arabic(rng: random.Random) -> list[Token]:
    verb, who = rng.choice(["كتب", "رأى", "قرأ"]), rng.choice(["ولد", "رجل", "معلم"])
    thing = rng.choice(["كتاب", "بيت"])
    first: Token = (verb, [verb], True)
    if rng.random() < 0.5:
        first = ("و" + verb, ["و", verb], True)
    return [
        first,
        ("ال" + who, ["ال", who], True),
        (thing + "ه", [thing, "ه"], False),  # noqa: RUF001
        (".", ["."], True),
    ]


def german(rng: random.Random) -> list[Token]:
    who = rng.choice(["Anna", "Otto", "Uwe"])
    where = rng.choice(["Bahnhof", "Arzt", "Markt"])
    preposition = rng.choice([("zum", ["zu", "dem"]), ("im", ["in", "dem"])])
    words: list[Token] = [(who, [who], True), ("geht", ["geht"], True)]
    return [*words, (*preposition, True), (where, [where], False), (".", ["."], True)]


LANGUAGES = [chinese, vietnamese, arabic, german]


def conllu(sentences: Sequence[Sequence[Token]]) -> str:
    """Write sentences whose second word is their root."""
    lines = []
    for tokens in sentences:
        number = 0
        lines.append("# text = " + "".join(t + " " * after for t, _, after in tokens))
        for form, words, after in tokens:
            misc = "_" if after else "SpaceAfter=No"
            if len(words) > 1:
                whole = f"{number + 1}-{number + len(words)}"
                lines.append("\t".join([whole, form, *"_______", misc]))
            for word in words:
                number += 1
                tag = "PUNCT" if not word[0].isalpha() else "X" + word[-1]
                tree = ("0", "root") if number == 2 else ("2", "dep:x")
                own = misc if len(words) == 1 else "_"
                cells = [str(number), word, "_", tag, "_", "_", *tree, "_", own]
                lines.append("\t".join(cells))
        lines.append("")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_pipelines_cut_and_split_text_of_any_script(
    language: Callable[[random.Random], list[Token]],
) -> None:
    rng = random.Random(0)
    made = [language(rng) for _ in range(60)]
    train = read_trees(io.StringIO(conllu(made[:45])), "conllu")
    test = read_trees(io.StringIO(conllu(made[45:])), "conllu")
    pipeline = Pipeline(steps="tokens,words,upos", folds=1).fit(train)
    text = text_of(test)
    document = pipeline.annotate(text)
    assert document.to_text() == text
    scores = conll18_scores(test, document.sentences).by_name
    for name in ("tokens", "sentences", "words", "upos"):
        assert scores[name].f1 >= 0.95, name
    again = read_trees(io.StringIO(document.to_conllu()), "conllu")
    assert [one.forms for one in again] == [one.forms for one in document]


@pytest.mark.parametrize("change", ["\r\n", "\ufeff"])
def test_windows_files_teach_the_same(change: str) -> None:
    rng = random.Random(0)
    text = conllu([german(rng) for _ in range(20)])
    other = text.replace("\n", change) if change == "\r\n" else change + text
    found = []
    for one in (text, other):
        train = read_trees(io.StringIO(one, newline=""), "conllu")
        pipeline = Pipeline(steps="tokens,words,upos", folds=1).fit(train)
        found.append(pipeline.annotate("Anna geht zum Arzt.").to_conllu())
    assert found[0] == found[1]


def test_tags_are_known_by_heart_if_they_follow() -> None:
    words = [(w, t, f) for w in "abcd" for t in "NV" for f in ("x=1", "x=2", "_")]
    tags = [t + f[-1] for _, t, f in words]
    often = [one for one in zip(words, tags, strict=True) for _ in range(4)]
    assert follows([word for word, _ in often], [tag for _, tag in often])
    noise = ["a" if i % 8 < 4 else "b" for i in range(len(often))][::-1]
    random.Random(0).shuffle(noise)
    assert not follows([word for word, _ in often], noise)
    known = ByHeart.learn(words, tags)
    assert known.tags([[("new", "N", "x=2"), ("a", "V", "x=7"), ("a", "Q", "_")]]) == [
        ["N2", "V1", "N1"]
    ]
    assert not any(key[:1].isalpha() for key in known.table)  # no word is needed


def test_a_language_with_many_tags_has_them_in_a_table(tmp_path: Path) -> None:
    feats = [f"Case={c}{n}" for c in "ABCDEFGHIJ" for n in range(10)]
    rng = random.Random(0)
    rows = [(f"w{i % 7}", cell) for i, cell in enumerate(rng.choices(feats, k=1200))]
    train = [
        Sentence.from_columns(
            forms=[form for form, _ in part],
            upos=["NOUN"] * 3,
            xpos=["N" + cell[5:] for _, cell in part],
            feats=[cell for _, cell in part],
            heads=[0, 1, 1],
            labels=["root", "x", "x"],
        )
        for part in (rows[i : i + 3] for i in range(0, 1200, 3))
    ]
    pipeline = Pipeline(steps="feats,xpos", folds=1).fit(train)
    assert pipeline.steps_["xpos"].is_table
    assert pipeline.steps_["xpos"].models == {}
    pipeline.save(tmp_path / "m.partwise")
    loaded = partwise.load(tmp_path / "m.partwise")
    for made in (pipeline, loaded):
        for one in made.annotate_sentences(train[:20]):
            assert one.xpos == tuple("N" + cell[5:] for cell in one.feats)


def test_steps_do_not_learn_from_columns_that_nobody_fills() -> None:
    def treebank(lemma: str) -> list[Sentence]:
        return [
            Sentence.from_columns(
                forms=[a, b, "."],
                lemmas=[lemma + a, lemma + b, "."],
                upos=["NOUN", "VERB", "PUNCT"],
                feats=[f"X={lemma}", "_", "_"],
                heads=[2, 0, 2],
                labels=["nsubj", "root", "punct"],
            )
            for a in ("dogs", "cats", "men")
            for b in ("bark", "sleep", "run")
        ]

    weights = [
        Pipeline(steps="tokens,upos,trees", folds=1)
        .fit(treebank(lemma))
        .models_["trees"]
        .weights_
        for lemma in ("x", "y")
    ]
    assert (weights[0] == weights[1]).all()
