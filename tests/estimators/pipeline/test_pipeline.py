"""Pipelines: from text to trees and back to text, in one file."""

import io
import signal
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest

import partwise
from partwise import DataError, ModelFileError, Pipeline, SequenceTagger
from partwise._jit.clock import preparing
from partwise.data import Document, Sentence, read_paragraphs, read_trees, text_of
from partwise.data.tree_notes import with_entries
from partwise.errors import ConvergenceWarning
from partwise.estimators.pipeline import time_plan, training
from partwise.estimators.pipeline.boundaries import MOST_TOKENS
from partwise.estimators.pipeline.spans import EntityStep
from partwise.estimators.pipeline.steps import Make, Step, learnt
from partwise.estimators.pipeline.time_plan import TimePlan
from partwise.estimators.pipeline.training import Trainer
from places import GOLDEN
from tiny_treebank import tiny_text, tiny_treebank

TEXT = (
    "  The dogs don't bark.  The cat slept!\nA dog isn't a cat .\n\n\n"
    "Žabe ne lajajo…\t日本語のテキスト。 Кошки спят. \u2028Dogs\x0b\x00bark\n"
)


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    treebank = tiny_treebank()
    return Pipeline(folds=2).fit(treebank, dev=tiny_treebank(1))


def test_pipeline_learns_all_steps(pipeline: Pipeline) -> None:
    steps = ["tokens", "words", "upos", "feats", "xpos", "lemmas", "trees"]
    assert list(pipeline.steps_) == steps
    assert pipeline.left_out_ == {}
    assert pipeline.scores_["upos"] == 1.0
    assert pipeline.scores_["lemmas"] > 0.9
    gaps = {n: m.certificate_.relative_gap for n, m in pipeline.models_.items()}
    assert set(gaps) >= {"tokens", "sentences", "words", "upos", "lemmas", "trees"}


def test_pipeline_annotates_what_it_has_seen(pipeline: Pipeline) -> None:
    document = pipeline.annotate("The dogs bark. Cats don't bark!")
    gold = tiny_treebank(1)[:2]
    assert [one.forms for one in document] == [one.forms for one in gold]
    assert [one.upos for one in document] == [one.upos for one in gold]
    assert [one.lemmas for one in document] == [one.lemmas for one in gold]
    assert [one.heads for one in document] == [one.heads for one in gold]
    words = document.tokens[1]
    assert [(t.form, t.multiword) for t in words[1:3]] == [
        ("do", "don't"),
        ("n't", "don't"),
    ]
    assert [document.text[t.start : t.end] for t in words[:3]] == [
        "Cats",
        "don't",
        "don't",
    ]


@pytest.mark.parametrize("end", ["", " ", "\n", " \n", "  "])
def test_pipeline_reproduces_the_end_of_the_text(pipeline: Pipeline, end: str) -> None:
    text = "Cats sleep. Dogs bark." + end
    document = pipeline.annotate(text)
    assert document.to_text() == text
    again = read_trees(io.StringIO(document.to_conllu()), "conllu")
    assert text_of(again) == text


def test_pipeline_reproduces_the_text(pipeline: Pipeline) -> None:
    document = pipeline.annotate(TEXT)
    assert document.to_text().rstrip() == TEXT.rstrip()
    for tokens in document.tokens:
        for token in tokens:
            assert TEXT[token.start : token.end] == (token.multiword or token.form)


def test_pipeline_writes_what_other_readers_read(pipeline: Pipeline) -> None:
    conllu = pytest.importorskip("conllu")
    document = pipeline.annotate(TEXT)
    read = conllu.parse(document.to_conllu())
    for sentence, ours in zip(read, document, strict=True):
        words = [token for token in sentence if isinstance(token["id"], int)]
        assert [token["form"] for token in words] == list(ours.forms)
        assert [token["head"] for token in words] == list(ours.heads or ())
        sentence.to_tree()
        text = ""
        covered = 0
        for token in sentence:
            if isinstance(token["id"], int) and token["id"] <= covered:
                continue
            covered = token["id"][-1] if isinstance(token["id"], tuple) else covered
            misc = token["misc"] or {}
            text += token["form"] + " " * (misc.get("SpaceAfter") != "No")
        assert text.rstrip() == sentence.metadata["text"]


def test_pipeline_streams_what_it_gives_at_once(pipeline: Pipeline) -> None:
    whole = pipeline.annotate(TEXT).sentences
    streamed = list(pipeline.stream(read_paragraphs(io.BytesIO(TEXT.encode()))))
    assert [one.to_text() for one in streamed] == [one.to_text() for one in whole]

    def columns(sentences: list[Sentence]) -> list[object]:
        return [(s.forms, s.upos, s.heads) for s in sentences]

    one_by_one = [
        sentence
        for paragraph in read_paragraphs(io.StringIO(TEXT))
        for sentence in pipeline.stream([paragraph])
    ]
    assert columns(one_by_one) == columns(whole)


def test_pipeline_threads_agree(pipeline: Pipeline) -> None:
    one = pipeline.set_params(n_jobs=1).annotate(TEXT).to_conllu()
    assert pipeline.set_params(n_jobs=2).annotate(TEXT).to_conllu() == one
    pipeline.set_params(n_jobs=None)


def test_pipeline_survives_its_file(pipeline: Pipeline, tmp_path: Path) -> None:
    path = tmp_path / "tiny.partwise"
    pipeline.save(path, "float64")
    loaded = partwise.load(path)
    assert loaded.annotate(TEXT).to_conllu() == pipeline.annotate(TEXT).to_conllu()
    assert loaded.scores_ == pipeline.scores_
    for name, model in pipeline.models_.items():
        assert loaded.models_[name].certificate_ == model.certificate_
    again = tmp_path / "again.partwise"
    loaded.save(again, "float64")
    twice = partwise.load(again)
    assert twice.annotate(TEXT).to_conllu() == pipeline.annotate(TEXT).to_conllu()
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(ModelFileError):
        partwise.load(path)


def test_pipeline_file_that_is_compressed_loads_for_ever() -> None:
    known = (GOLDEN / "names-1.conllu").read_text()
    text = text_of(read_trees(io.StringIO(known), "conllu"))
    loaded = partwise.load(GOLDEN / "names-1.partwise")
    assert loaded.annotate(text).to_conllu() == known


def test_pipeline_keeps_what_is_given(pipeline: Pipeline) -> None:
    text = tiny_text().replace("\tNOUN\t", "\tX\t")
    given = read_trees(io.StringIO(text), "conllu")
    kept = pipeline.annotate_sentences(given, keep=["upos"])
    assert [one.upos for one in kept] == [one.upos for one in given]
    tagged = pipeline.annotate_sentences(given)
    assert [one.upos for one in tagged] == [one.upos for one in tiny_treebank(1)]
    comments = [
        line for line in text.splitlines() if line[:1] == "#" or "-" in line[:3]
    ]
    written = "".join(one.to_text() for one in tagged).splitlines()
    assert [x for x in written if x[:1] == "#" or "-" in x[:3]] == comments
    with pytest.raises(ValueError, match="no column 'head' to keep"):
        pipeline.annotate_sentences(given, keep=["head"])


def test_pipeline_annotates_tokens(pipeline: Pipeline) -> None:
    document = pipeline.annotate_tokens([["Cats", "don't", "bark", "!"], [], ["Dogs"]])
    assert [one.forms for one in document] == [
        ("Cats", "do", "n't", "bark", "!"),
        ("Dogs",),
    ]
    assert isinstance(document, Document)
    with pytest.raises(TypeError, match="for text use annotate"):
        pipeline.annotate_tokens(["Cats bark"])
    for token in ("a\tb", "a\nb", "", 3):
        with pytest.raises(DataError, match=r"sentence 2: .* is no token"):
            pipeline.annotate_tokens([["Dogs"], ["The", token]])  # type: ignore[list-item]


def test_pipeline_leaves_out_what_the_treebank_does_not_have() -> None:
    bare = [
        replace(one, lemmas=("_",) * len(one), heads=None, labels=None)
        for one in tiny_treebank()
    ]
    # Its words, as if they had been tokens of their own.
    bare = [replace(one, verbatim=None) for one in bare]
    made = Pipeline(steps="words,upos,lemmas,trees", folds=1).fit(bare)
    assert list(made.steps_) == ["upos"]
    assert made.left_out_ == {
        "words": "there are no multiword tokens",
        "lemmas": "no word has a lemma",
        "trees": "no sentence has a tree",
    }
    with pytest.raises(DataError, match="has no step for tokens and sentences"):
        made.annotate("Dogs bark.")


def test_pipeline_refuses_other_annotation_and_nothing() -> None:
    treebank = tiny_treebank(1)
    other = [replace(one, upos=("N",) * len(one)) for one in treebank]
    with pytest.raises(DataError, match="other parts of speech than the treebank"):
        Pipeline().fit(treebank, dev=other)
    other = [replace(one, labels=("x",) * len(one)) for one in treebank]
    with pytest.raises(DataError, match="other labels of arcs than the treebank"):
        Pipeline().fit(treebank, dev=other)
    with pytest.raises(DataError, match="no words"):
        Pipeline().fit([])
    with pytest.raises(DataError, match="dev: there are no words"):
        Pipeline().fit(treebank, dev=[])
    with pytest.raises(ValueError, match="there is no step 'tags'"):
        Pipeline(steps="tags").fit(treebank)
    with pytest.raises(TypeError, match="a text is a string"):
        Pipeline(steps="tokens").fit(treebank).annotate(b"Dogs")  # type: ignore[arg-type]


def test_pipeline_chooses_c_within_its_time() -> None:
    treebank = tiny_treebank(1)
    made = Pipeline(steps="upos", minutes=5, folds=1).fit(treebank, dev=treebank)
    assert made.scores_["upos"] == 1.0
    quick = Pipeline(steps="upos", minutes=0.0001, folds=1).fit(treebank)
    assert quick.models_["upos"].n_iter_ >= 1
    # No step goes without a first pass, however slow it is.
    tagger = SequenceTagger(template="words", time_limit=1e-9)
    words, tags = ([getattr(x, k) for x in treebank] for k in ("forms", "upos"))
    with pytest.warns(ConvergenceWarning):
        learnt(tagger, words, tags)
    assert (tagger.n_iter_, tagger.time_limit) == (1, 1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "The dogs bark " * 1000,  # neither a full stop nor a line break
        "x" * 3000,
        "\x01The\x1b[31m dogs\x7f bark\x85.\u200b\u202e",
        "\u0627\u0644\u0643\u0644\u0627\u0628 \u062a\u0646\u0628\u062d.",
        "\u72d7\u53eb\u3002\u732b\u7761\u3002",
        "\ud800 dogs",
        "..." * 50,
    ],
    ids=[
        "endless",
        "one word",
        "controls",
        "right to left",
        "no spaces",
        "half",
        "dots",
    ],
)
def test_pipeline_takes_every_text(pipeline: Pipeline, text: str) -> None:
    document = pipeline.annotate(text)
    assert document.to_text().rstrip() == text.rstrip()
    assert max(map(len, document)) <= 2 * MOST_TOKENS  # don't is two words
    again = read_trees(io.StringIO(document.to_conllu()), "conllu")
    assert [one.heads for one in again] == [one.heads for one in document]


def with_tokens(*sentences: str, misc: str) -> list[Sentence]:
    """Return sentences of tokens that have bars between them."""
    rest = "\t_" * 7
    lines = [
        [f"{n}\t{form}{rest}\t{misc}" for n, form in enumerate(tokens.split("|"), 1)]
        for tokens in sentences
    ]
    text = "".join("\n".join([*own, "", ""]) for own in lines)
    return read_trees(io.StringIO(text), "conllu")


ENGLISH = (
    ["Dogs|bark|.", "Cats|sleep|."],
    "Cats|bark|.|Dogs|sleep|.",
    "Cats bark. Dogs sleep.",
)
CHINESE = (["小狗|叫|。", "小猫|睡|。"], "小猫|叫|。|小狗|睡|。", "小猫叫。小狗睡。")


@pytest.mark.parametrize(("known", "right", "text"), [ENGLISH, CHINESE])
def test_pipeline_finds_tokens_where_spaces_are_not_told(
    known: list[str], right: str, text: str
) -> None:
    made = Pipeline(steps="tokens", folds=1).fit(with_tokens(*4 * known, misc="_"))
    assert "does not say where tokens touch" in made.notes_["tokens"]
    found = [form for one in made.annotate(text) for form in one.forms]
    assert found == right.split("|")


def test_pipeline_finds_tokens_without_spaces() -> None:
    known, right, text = CHINESE
    treebank = with_tokens(*4 * known, misc="SpaceAfter=No")
    made = Pipeline(steps="tokens", folds=1).fit(treebank)
    assert made.notes_ == {}
    found = [form for one in made.annotate(text) for form in one.forms]
    assert found == right.split("|")


def test_pipeline_keeps_what_is_better() -> None:
    """Alternatives are tried in turn, and combined with what was better before."""
    worth = {"suffix": {6: 1, 4: 0, 8: 2}, "C_times": {1.0: 1, 3.0: 0, 0.3: 5}}

    class Guess(Step):
        name, alternatives = "words", ({"suffix": 4}, {"suffix": 8})

        def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
            return self

        def score(
            self, gold: Sequence[Sentence], dev: Sequence[Sentence]
        ) -> tuple[float, list[Sentence]]:
            C = self.choice.get("C_times", 1.0)
            return float(worth["suffix"][self.suffix] + worth["C_times"][C]), list(dev)

    for seconds, choice in ((1000.0, {"suffix": 8, "C_times": 0.3}), (None, {})):
        trainer = Trainer(seconds, 1, {}, lambda text: None)
        step, _ = trainer._chosen(Guess(), [], [], [], 0.0)
        assert step.choice == choice


class Presses:
    """A screen on which something presses Ctrl-C when a text is shown."""

    def __init__(self, at: str):
        self.at = at

    def show(self, text: str, now: bool = False) -> None:
        if text == self.at:
            signal.raise_signal(signal.SIGINT)

    def close(self) -> None:
        pass


def test_only_what_is_read_is_predicted_for_the_treebank(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Trees are not predicted for spans, which do not read them."""
    learnt_by: list[str] = []

    class Counted(Step):
        adds = ("upos",)

        def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
            learnt_by.append(self.name)
            return self

        def apply(self, sentences: Sequence[Sentence]) -> list[Sentence]:
            return list(sentences)

    names = ("upos", "lemmas", "trees", "entities")
    for name in names:
        step = type(name, (Counted,), {"name": name})
        monkeypatch.setitem(training.STEPS, name, step)
    for corpora, counts in (({}, [3, 3, 1, 1]), ({"entities": []}, [3, 1, 1, 1])):
        learnt_by.clear()
        wanted = [name for name in names if name != "trees" or not corpora]
        trainer = Trainer(None, 2, {}, lambda text: None, corpora)
        trainer.train(wanted, tiny_treebank(1), None)
        for name, count in zip(names, counts, strict=True):
            assert learnt_by.count(name) == (name in wanted) * count


def test_compiling_is_not_part_of_the_time() -> None:
    plan = TimePlan(60.0)
    with preparing("nothing"):
        time.sleep(0.5)
    assert plan.left > 59.6


def test_time_is_divided_between_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """What one step leaves is for those after it, and little time means few folds."""
    now = [0.0]
    monkeypatch.setattr(time_plan, "working_time", lambda: now[0])
    plan = TimePlan(66.0)
    plan.begin_step("upos", ["trees", "entities"])
    with plan.share(0.5):
        assert plan.limit() == pytest.approx(6.5)
        assert plan.limit(0.5) == pytest.approx(3.25)
    assert [plan.affordable_folds(4, took) for took in (1, 6, 10, 99)] == [4, 3, 2, 2]
    assert plan.affordable_folds(1, 99) == 1
    assert plan.can_try(4.0, 4)
    assert not plan.can_try(4.1, 4)
    now[0] += 1.0
    plan.begin_step("trees", ["entities"])
    assert plan.limit() == pytest.approx(65.0 * 40 / 53)
    now[0] += 100.0
    assert plan.limit() == time_plan.LEAST
    endless = TimePlan(None)
    endless.begin_step("trees", [])
    assert endless.limit() is None
    assert endless.affordable_folds(4, 99) == 4
    assert not endless.can_try(0.0, 1)


def test_pipeline_says_what_there_was_no_time_for() -> None:
    treebank = tiny_treebank(1)
    steps = "upos,lemmas"
    made = Pipeline(steps=steps, minutes=1e-4).fit(treebank)
    assert made.hurried_["upos"].endswith("2 folds instead of 4")
    assert Pipeline(steps=steps).fit(treebank).hurried_ == {}


def test_pipeline_interrupted_keeps_the_steps_it_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def press(at: str) -> None:
        name = "partwise.estimators.pipeline.pipeline.open_screen"
        monkeypatch.setattr(name, lambda: Presses(at))

    press("training lemmas")
    model = Pipeline(steps="lemmas,upos,trees", folds=1, verbose=1)
    model.fit(tiny_treebank(1))
    assert model.interrupted_
    assert list(model.steps_) == ["upos"]
    assert model.left_out_["trees"] == "training was interrupted"
    press("training upos")
    with pytest.raises(KeyboardInterrupt):
        model.fit(tiny_treebank(1))
    assert list(model.steps_) == ["upos"]


def test_documents_come_back_from_spacy(pipeline: Pipeline) -> None:
    pytest.importorskip("spacy")
    from partwise.data.spacy_docs import from_spacy, to_spacy

    document = pipeline.annotate("The dogs bark.\n\n The cats slept.")
    named = [
        with_entries(one, "NER", ["B-ANIMAL", "I-ANIMAL", None, None])
        for one in document
    ]
    doc = to_spacy(Document(named, document.text))
    assert doc.text == document.text
    assert [(one.text, one.label_) for one in doc.ents] == [
        ("The dogs", "ANIMAL"),
        ("The cats", "ANIMAL"),
    ]
    assert [token.dep_ for token in doc][2:3] == ["ROOT"]
    assert [token.lower_ for token in doc][:2] == ["the", "dogs"]
    assert [token.is_space for token in doc].index(True) == 4
    assert [token.head.i for token in doc][5:] == [6, 7, 7, 7]
    back = from_spacy(doc)
    assert [one.forms for one in back] == [one.forms for one in document]
    assert [one.heads for one in back] == [one.heads for one in document]
    assert [one.feats for one in back] == [one.feats for one in document]
    assert [one.lemmas for one in back] == [one.lemmas for one in document]
    assert EntityStep.labels(back.sentences) == EntityStep.labels(named)
    assert [t.start for t in back.tokens[1]] == [t.start for t in document.tokens[1]]


def test_steps_read_what_they_will_be_given() -> None:
    treebank, seen = tiny_treebank(), []

    class Reads(Trainer):
        def _fit(self, cls: type[Step], train, dev, choice=None) -> Step:  # type: ignore[no-untyped-def]
            seen.append((cls.name, train[0].xpos, dev[0].xpos, dev[0].heads))
            return super()._fit(cls, train, dev, choice)

    trainer = Reads(None, 1, {}, lambda _: None, {}, treebank)
    trainer.train(["upos"], treebank, treebank)
    gold, blank = treebank[0].xpos, ("_",) * len(treebank[0])
    trainer.train(["tokens", "upos"], treebank, treebank)
    assert gold != blank
    assert seen == [
        ("upos", gold, gold, None),  # CoNLL-U is given, and so is this column
        ("tokens", blank, blank, None),  # text is given
        ("upos", blank, blank, None),
    ]


def test_columns_that_no_step_fills_change_nothing() -> None:
    treebank = tiny_treebank()
    pipeline = Pipeline(steps="tokens,upos,trees", folds=1).fit(treebank)
    read: list[tuple[str, ...]] = []
    step = pipeline.steps_["trees"]
    apply = step.apply

    def spy(sentences: Sequence[Sentence]) -> list[Sentence]:
        read.extend(one.xpos for one in sentences)
        return apply(sentences)

    step.apply = spy  # type: ignore[method-assign]
    found = pipeline.annotate_sentences(treebank)
    assert {tag for tags in read for tag in tags} == {"_"}
    assert [one.xpos for one in found] == [one.xpos for one in treebank]
