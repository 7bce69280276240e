"""From raw text to trees: a pipeline beside UDPipe 1, trained in the same run.

Both learn from the same sentences, annotate the same raw text, and are measured by the
same code, the metrics of the CoNLL 2018 shared task. UDPipe 1 is `ufal.udpipe`; its
settings are its defaults, but for the number of iterations where that is stated.
"""

from __future__ import annotations

import io
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.harness.bench import Bench
from benchmarks.harness.parsing_task import EWT, SLOVENE, Treebank, read_treebank
from benchmarks.harness.report import Figure, Report, Table
from partwise import Pipeline
from partwise.data import Sentence, read_trees, text_of
from partwise.data.surface import Written, paragraphs
from partwise.metrics import CONLL18_METRICS, Conll18Scores, conll18_scores

OURS, UDPIPE = "Partwise", "UDPipe 1"
# English has four times the sentences: every fourth is learnt from, and UDPipe trains
# for a fifth of its tokenizer's epochs and half of its parser's iterations.
EVERY = {SLOVENE.name: 1, EWT.name: 4}
UDPIPE_SETTINGS = {
    SLOVENE.name: ("", "", ""),
    EWT.name: ("epochs=20", "", "iterations=5"),
}
QUICK = ("epochs=2;early_stopping=0", "iterations=2;early_stopping=0", "iterations=1")


class Outcome(NamedTuple):
    """What a program made of a treebank."""

    scores: Conll18Scores
    train_seconds: float
    words_per_second: float
    megabytes: float


def run(bench: Bench) -> Report:
    """Train and measure both on each treebank."""
    found = {
        treebank.name: _compare(bench, treebank)
        for treebank in bench.choose([SLOVENE, EWT], [EWT])
    }
    figures = []
    for name, outcomes in found.items():
        if UDPIPE not in outcomes:
            continue
        ours, other = outcomes[OURS], outcomes[UDPIPE]
        figures += [
            _ahead(f"{name}: LAS from raw text", ours, other, "las"),
            _ahead(f"{name}: UPOS", ours, other, "upos"),
            _ahead(f"{name}: lemmas", ours, other, "lemmas"),
            Figure(
                f"{name}: training time, {OURS} / {UDPIPE}",
                ours.train_seconds / other.train_seconds,
                "ratio",
                at_most=0.25,
            ),
            Figure(
                f"{name}: words a second, {OURS} / {UDPIPE}",
                ours.words_per_second / other.words_per_second,
                "ratio",
                at_least=5.0,
            ),
        ]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Report(
        figures,
        settings={"UDPipe": UDPIPE_SETTINGS, "every nth sentence": EVERY},
        seeds=[0],
        tables=[_table(name, outcomes) for name, outcomes in found.items()],
        notes=[
            "F1 in %, from raw text on. Seconds are processor time, without compiling. "
            f"The most memory that both took was {megabytes:.0f} MB.",
            "In UD Slovenian SSJ, comments `# text` tell spaces where entries "
            "`SpaceAfter=No` are missing; UDPipe is given entries made from them.",
        ],
    )


def _compare(bench: Bench, treebank: Treebank) -> dict[str, Outcome]:
    parts = read_treebank(bench, treebank)
    parts["train"] = parts["train"][:: bench.choose(EVERY[treebank.name], 1)]
    parts = {part: [one for one in some if len(one)] for part, some in parts.items()}
    outcomes = {}
    bench.say(f"{treebank.name}: {OURS}, compiling")
    Pipeline(folds=1).fit(parts["train"][:20], dev=parts["dev"][:5])
    bench.say(f"{treebank.name}: {OURS}")
    pipeline = Pipeline()
    seconds = _timed(lambda: pipeline.fit(parts["train"], dev=parts["dev"]))
    path = bench.scratch / "pipeline.partwise"
    pipeline.save(path)
    outcomes[OURS] = _measured(
        parts["test"], lambda text: pipeline.annotate(text).sentences, seconds, path
    )
    try:
        from ufal import udpipe
    except ImportError:
        bench.say("ufal.udpipe is not installed; measuring Partwise alone")
        return outcomes
    bench.say(f"{treebank.name}: {UDPIPE}")
    settings = bench.choose(UDPIPE_SETTINGS[treebank.name], QUICK)
    outcomes[UDPIPE] = _udpipe(bench, udpipe, parts, settings)
    return outcomes


def _measured(
    gold: Sequence[Sentence],
    annotate: Callable[[str], Sequence[Sentence]],
    seconds: float,
    path: Path,
) -> Outcome:
    text = text_of(gold)
    annotate(text[:2000])
    found: list[Sentence] = []
    spent = _timed(lambda: found.extend(annotate(text)))
    words = sum(map(len, gold))
    size = path.stat().st_size / 2**20
    return Outcome(conll18_scores(gold, found), seconds, words / spent, size)


def _timed(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _udpipe(
    bench: Bench,
    udpipe: Any,
    parts: dict[str, list[Sentence]],
    settings: Sequence[str],
) -> Outcome:
    data = {part: _udpipe_sentences(udpipe, parts[part]) for part in ("train", "dev")}
    error = udpipe.ProcessingError()
    path = bench.scratch / "model.udpipe"

    def train() -> None:
        model = udpipe.Trainer.train(
            "morphodita_parsito", data["train"], data["dev"], *settings, error
        )
        if error.occurred():
            raise RuntimeError(error.message)
        raw = (
            model.encode("utf-8", "surrogateescape")
            if isinstance(model, str)
            else model
        )
        path.write_bytes(raw)

    seconds = _timed(train)
    model = udpipe.Model.load(str(path))
    default = udpipe.Pipeline.DEFAULT
    made = udpipe.Pipeline(model, "tokenize", default, default, "conllu")

    def annotate(text: str) -> list[Sentence]:
        return read_trees(io.StringIO(made.process(text)), "conllu")

    return _measured(parts["test"], annotate, seconds, path)


def _udpipe_sentences(udpipe: Any, sentences: Sequence[Sentence]) -> Any:
    """Return sentences as UDPipe has them, with entries for the spaces between them."""
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText("".join(map(_with_spaces, sentences)))
    made, error = udpipe.Sentences(), udpipe.ProcessingError()
    one = udpipe.Sentence()
    while reader.nextSentence(one, error):
        made.append(one)
        one = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return made


def _with_spaces(sentence: Sentence) -> str:
    """Return CoNLL-U whose tokens say what the comment ``# text`` tells."""
    [[written]] = paragraphs([sentence]) or [[Written("", [], [])]]
    after = dict(
        zip((t.first for t in written.tokens), [*written.gaps[:-1], " "], strict=True)
    )
    whole = {t.first: t for t in written.tokens if t.is_multiword}
    lines = []
    for line in sentence.to_text("conllu").split("\n"):
        cells = line.split("\t")
        number = cells[0].partition("-")[0]
        if len(cells) == 10 and number.isdecimal() and "." not in cells[0]:
            word = int(number)
            own = "-" in cells[0] or word not in whole
            kept = [x for x in cells[9].split("|") if not x.startswith("SpaceAfter=")]
            kept = [x for x in kept if x != "_"]
            if own and after.get(word) == "":
                kept.append("SpaceAfter=No")
            cells[9] = "|".join(kept) or "_"
        lines.append("\t".join(cells))
    return "\n".join(lines)


def _ahead(what: str, ours: Outcome, other: Outcome, metric: str) -> Figure:
    difference = 100 * (ours.scores[metric].f1 - other.scores[metric].f1)
    return Figure(f"{what}, {OURS} - {UDPIPE}", difference, "points", at_least=0.0)


def _table(name: str, outcomes: dict[str, Outcome]) -> Table:
    names = [*CONLL18_METRICS]
    rows: list[list[Any]] = [
        [metric, *(100 * one.scores[metric].f1 for one in outcomes.values())]
        for metric in names
    ]
    rows += [
        ["seconds to train", *(one.train_seconds for one in outcomes.values())],
        ["words a second", *(one.words_per_second for one in outcomes.values())],
        ["model, MB", *(one.megabytes for one in outcomes.values())],
    ]
    return Table(name, ["", *outcomes], rows)
