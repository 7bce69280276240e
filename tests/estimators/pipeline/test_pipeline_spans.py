"""Named entities and chunks as steps of a pipeline, from a second corpus."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

import partwise
from partwise import DataError, Pipeline
from partwise.data import Sentence, read_columns, read_trees
from partwise.estimators.pipeline.spans import ChunkStep, EntityStep
from partwise.estimators.pipeline.training import Trainer
from partwise.metrics import text_span_scores
from tiny_treebank import tiny_text, tiny_treebank

NAMES = """\
The O
dogs O
met O
Ada B-PER
Lovelace I-PER
. O

Ada B-PER
slept O
in O
Paris B-LOC
. O

Paris B-LOC
slept O
. O

"""


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    corpus = read_columns(io.StringIO(NAMES * 3))
    made = Pipeline(steps="tokens,upos", folds=1)
    return made.fit(tiny_treebank(), entities=corpus)


def test_entities_are_learnt_from_a_second_corpus(pipeline: Pipeline) -> None:
    assert list(pipeline.steps_) == ["tokens", "upos", "entities"]
    document = pipeline.annotate("The dogs met Ada Lovelace. Paris slept.")
    labels = EntityStep.labels(document.sentences)
    assert labels == [["O", "O", "O", "B-PER", "I-PER", "O"], ["B-LOC", "O", "O"]]
    assert "SpaceAfter=No|TokenRange=17:25|NER=I-PER\n" in document.to_conllu()
    assert pipeline.models_["entities"].constraints == "BIO"


def test_entities_survive_the_file(pipeline: Pipeline, tmp_path: Path) -> None:
    pipeline.save(tmp_path / "m.partwise")
    loaded = partwise.load(tmp_path / "m.partwise")
    text = "Ada Lovelace met dogs in Paris."
    assert loaded.annotate(text).to_conllu() == pipeline.annotate(text).to_conllu()


def test_entities_are_replaced_or_kept(pipeline: Pipeline) -> None:
    row = "1\tAda\t_\t_\t_\t_\t_\t_\t_\tGloss=x|NER=B-LOC\n\n"
    given = read_trees(io.StringIO(row), "conllu")
    assert EntityStep.labels(pipeline.annotate_sentences(given)) == [["B-PER"]]
    kept = pipeline.annotate_sentences(given, keep=["ner"])
    assert EntityStep.labels(kept) == [["B-LOC"]]
    made = [Sentence.from_columns(forms=["Ada"])]  # without lines of a file
    assert EntityStep.labels(pipeline.annotate_sentences(made)) == [["B-PER"]]


def test_entities_of_the_treebank_need_no_second_corpus() -> None:
    text = tiny_text().replace("\t_\n", "\tChunk=B-NP\n", 2)
    treebank = read_trees(io.StringIO(text * 2), "conllu")
    made = Pipeline(folds=1, steps="upos,chunks").fit(treebank, dev=treebank)
    assert list(made.steps_) == ["upos", "chunks"]
    assert made.scores_["chunks"] > 0.5
    assert not ChunkStep.can_be_judged(tiny_treebank(1))


def test_entities_that_are_none_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = read_columns(io.StringIO("Ada PERSON\nslept O\n"))
    with monkeypatch.context() as patch:  # before other steps have taken their time
        patch.setattr(Trainer, "train", lambda *_: pytest.fail("training began"))
        with pytest.raises(DataError, match="one is 'PERSON'"):
            Pipeline(steps="upos", folds=1).fit(tiny_treebank(1), entities=wrong)
    words = read_columns(io.StringIO("Ada\nslept\n"))
    with pytest.raises(DataError, match="only one column"):
        Pipeline(steps="upos", folds=1).fit(tiny_treebank(1), entities=words)
    made = Pipeline(steps="upos,entities", folds=1).fit(tiny_treebank(1))
    assert made.left_out_ == {"entities": "no word has an entry NER= in MISC"}


def test_spans_are_compared_by_characters() -> None:
    def read(*rows: str) -> list[Sentence]:
        lines = [
            f"{n}\t{form}\t_\t_\t_\t_\t_\t_\t_\t{misc}"
            for n, (form, misc) in enumerate(map(str.split, rows), 1)
        ]
        return read_trees(io.StringIO("\n".join(lines) + "\n\n"), "conllu")

    gold = read("New NER=B-LOC", "York NER=I-LOC", "sleeps _", "Ada NER=B-PER")
    # Tokens that differ do not matter where the characters are the same.
    other = read("NewYork NER=B-LOC", "sleeps NER=B-PER", "A NER=B-PER", "da _")
    score = text_span_scores(gold, other)
    assert (score.right, score.gold, score.system) == (1, 2, 3)
    assert text_span_scores(gold, gold).f1 == 1.0
    assert text_span_scores(gold, [replace(gold[0])], "Chunk").f1 == 0.0
