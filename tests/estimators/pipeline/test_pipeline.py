"""Pipelines: from text to trees and back to text, in one file."""

import io
import signal
from dataclasses import replace
from pathlib import Path

import pytest

import partwise
from partwise import DataError, ModelFileError, Pipeline
from partwise.data import Document, Sentence, read_paragraphs, read_trees
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
    with pytest.raises(DataError, match="no words"):
        Pipeline().fit([])
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


class Presses:
    """A screen on which something presses Ctrl-C when a text is shown."""

    def __init__(self, at: str):
        self.at = at

    def show(self, text: str, now: bool = False) -> None:
        if text == self.at:
            signal.raise_signal(signal.SIGINT)

    def close(self) -> None:
        pass


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

    document = pipeline.annotate("The dogs bark. The cats slept.")
    doc = to_spacy(document)
    assert doc.text == document.text
    back = from_spacy(doc)
    assert back.sentences == document.sentences
    assert [t.start for t in back.tokens[1]] == [t.start for t in document.tokens[1]]
