"""Training and using a pipeline, ours or UDPipe 1, each in a process of its own."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from partwise.data import Sentence, read_trees, text_of
from partwise.data.surface import Written, paragraphs
from partwise.metrics import conll18_scores

PARTS = ("train", "dev", "test")
ENOUGH = 2000
"""How many characters are annotated before the clock starts."""


def write_parts(folder: Path, parts: dict[str, list[Sentence]]) -> None:
    """Write a treebank for both programs."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        text = "".join(with_spaces(one) for one in parts[part] if len(one))
        (folder / f"{part}.conllu").write_text(text, encoding="utf-8")


def train_partwise(folder: str, model: str) -> dict[str, Any]:
    """Train with the default settings; compiling is not counted."""
    from partwise import Pipeline

    train, dev = _read(folder, "train"), _read(folder, "dev")
    Pipeline(folds=1).fit(train[:20], dev=dev[:5])
    pipeline = Pipeline()
    seconds = _timed(lambda: pipeline.fit(train, dev=dev))
    pipeline.save(model)
    return {"seconds": seconds, "dev": pipeline.scores_}


def train_udpipe(folder: str, model: str, settings: Sequence[str]) -> dict[str, Any]:
    """Train with settings of the tokenizer, the tagger and the parser."""
    from ufal import udpipe

    train, dev = (_udpipe_sentences(udpipe, folder, part) for part in PARTS[:2])
    error = udpipe.ProcessingError()
    made: list[Any] = []
    seconds = _timed(
        lambda: made.append(
            udpipe.Trainer.train("morphodita_parsito", train, dev, *settings, error)
        )
    )
    if error.occurred():
        raise RuntimeError(error.message)
    [raw] = made
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogateescape")
    Path(model).write_bytes(raw)
    return {"seconds": seconds}


def measure_partwise(folder: str, model: str) -> dict[str, Any]:
    """Annotate the text of the test part, on one thread."""
    import partwise

    pipeline = partwise.load(model)
    return _measured(folder, model, lambda text: pipeline.annotate(text).to_conllu())


def measure_udpipe(folder: str, model: str) -> dict[str, Any]:
    """Annotate the text of the test part."""
    from ufal import udpipe

    loaded = udpipe.Model.load(model)
    default = udpipe.Pipeline.DEFAULT
    pipeline = udpipe.Pipeline(loaded, "tokenize", default, default, "conllu")
    return _measured(folder, model, pipeline.process)


def _measured(
    folder: str, model: str, annotate: Callable[[str], str]
) -> dict[str, Any]:
    gold = _read(folder, "test")
    text = text_of(gold)
    annotate(text[:ENOUGH])
    written: list[str] = []
    seconds = _timed(lambda: written.append(annotate(text)))
    found = read_trees(io.StringIO(written[0]), "conllu")
    scores = conll18_scores(gold, found)
    return {
        "f1": {name: score.f1 for name, score in scores.by_name.items()},
        "words_per_second": sum(map(len, gold)) / seconds,
        "megabytes": os.path.getsize(model) / 2**20,
    }


def _read(folder: str, part: str) -> list[Sentence]:
    return read_trees(Path(folder) / f"{part}.conllu", "conllu")


def _timed(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def _udpipe_sentences(udpipe: Any, folder: str, part: str) -> Any:
    reader = udpipe.InputFormat.newConlluInputFormat()
    reader.setText((Path(folder) / f"{part}.conllu").read_text(encoding="utf-8"))
    made, error = udpipe.Sentences(), udpipe.ProcessingError()
    one = udpipe.Sentence()
    while reader.nextSentence(one, error):
        made.append(one)
        one = udpipe.Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return made


def with_spaces(sentence: Sentence) -> str:
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
