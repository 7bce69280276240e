"""A corpus that does not fit the memory it is given: encoded, and trained from files.

Ten million generated tokens. ``encode`` writes them to a folder, and training reads
that folder with ``memory`` set; beside it the same model is trained from the text, in
memory. Each runs in a process of its own, whose most memory, pages of files included,
is measured; time is that of the processor. The folder is in the page cache, as it is
after writing. A solver whose own variables would not fit must be refused, with the
size, before it starts.
"""

from __future__ import annotations

import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.child import MIB, run_in_child
from benchmarks.harness.report import Figure, Report, Table
from partwise import OutOfMemoryError, SequenceTagger, encode, encoded
from partwise.data import ColumnData, iter_columns, read_columns, write_columns
from partwise.solvers import Callback, Problem, Solver
from partwise.solvers.memory import own_memory
from partwise.synthetic import make_corpus

THIS = "benchmarks.larger_than_memory"
SENTENCES_A_FILE = 5_000
TOKENS_A_SENTENCE = 14.4
SLOWER = 1.3
SOLVERS = {"lbfgs": "log_loss", "sgd": "log_loss"}
PASSES = 3
FEATURES = {"template": "default", "hash_bits": 17}
MEMORY = 1_000_000_000


def run(bench: Bench) -> Report:
    """Encode, train from the folder, train in memory."""
    n_tokens, memory = bench.choose(10_000_000, 20_000), MEMORY
    text, folder = bench.scratch / "data.txt", bench.scratch / "folder"
    bench.say("writing the corpus")
    found = run_in_child(THIS, "write", str(text), int(n_tokens / TOKENS_A_SENTENCE))
    bench.say("encoding")
    coded = run_in_child(THIS, "encode_text", str(text), str(folder))
    rows, figures = [], []
    for solver in bench.parts(SOLVERS):
        bench.say(f"{solver}, from the folder")
        outputs = [str(bench.scratch / name) for name in ("there.npy", "here.npy")]
        there = run_in_child(THIS, "train", str(folder), solver, memory, outputs[0])
        bench.say(f"{solver}, in memory")
        here = run_in_child(THIS, "train", str(text), solver, None, outputs[1])
        same = np.array_equal(*map(np.load, outputs))
        rows += [
            [solver, where, one["pass"], one["peak_mib"], one["own_mib"]]
            for where, one in (("from the folder", there), ("in memory", here))
        ]
        figures += [
            Figure(f"{solver}: memory besides mapped pages / the memory given",
                   there["own_mib"] * MIB / memory, "", at_most=1.0),
            Figure(f"{solver}: most memory / the memory given",
                   there["peak_mib"] * MIB / memory, "", at_most=1.0),
            Figure(f"{solver}: most memory in memory / the memory given",
                   here["peak_mib"] * MIB / memory, "", 1.0),
            Figure(f"{solver}: time of a pass / in memory",
                   there["pass"] / here["pass"], "", at_most=SLOWER),
            Figure(f"{solver}: same weights", float(same), "", 1.0),
        ]  # fmt: skip
    refused = run_in_child(THIS, "refuse", str(folder), memory)
    figures.append(Figure("eg is refused with its size", refused["refused"], "", 1.0))
    headings = [
        "solver",
        "where",
        "CPU s a pass",
        "most memory, MiB",
        "without files, MiB",
    ]
    return Report(
        figures,
        settings={
            "tokens": found["tokens"],
            "memory": memory,
            "encoding, s": coded["seconds"],
            "encoding, most memory in MiB": coded["peak_mib"],
            "folder, MiB": coded["bytes"] / MIB,
            "refusal": refused["message"],
        },
        seeds=[0],
        tables=[Table("Training", headings, rows)],
        notes=["Without files: memory that the system could not take back."],
    )


# --- in a process of its own ---


class Clock(Callback):
    """Notes processor time at the ends of passes, and memory besides mapped pages."""

    def on_start(self, problem: Problem, solver: Solver, max_iter: int) -> None:
        """Begin anew."""
        self.times, self.most = [time.process_time()], own_memory()

    def on_pass(self, row: Any, w: Any) -> None:
        """Note the time."""
        self.times.append(time.process_time())
        self.most = max(self.most, own_memory())


def write(path: str, n_sentences: int) -> dict[str, Any]:
    """Write a generated corpus, words, tags and chunks in columns."""
    count = 0
    cuts = [*range(0, n_sentences, SENTENCES_A_FILE), n_sentences]
    part = Path(path).with_suffix(".part")
    with open(path, "w", encoding="utf-8") as out:
        for seed, (begin, end) in enumerate(pairwise(cuts)):
            sentences = [
                list(zip(s.words, s.tags, s.chunks, strict=True))
                for s in make_corpus(end - begin, random_state=seed)
            ]
            data = ColumnData.from_sentences(sentences)
            write_columns(part, data)
            out.write(part.read_text(encoding="utf-8"))
            count += data.n_tokens
    part.unlink()
    return {"tokens": count}


def encode_text(path: str, folder: str) -> dict[str, Any]:
    """Encode a file of columns, the label last."""

    def pieces() -> Any:
        for data in iter_columns(path):
            yield data.without(2), data.column_sequences(2)

    begin = time.perf_counter()
    corpus = encode(SequenceTagger(**FEATURES), pieces, folder)  # type: ignore[arg-type]
    return {"seconds": time.perf_counter() - begin, "bytes": corpus.n_bytes}


def train(source: str, solver: str, memory: int | None, output: str) -> dict[str, Any]:
    """Train for a few passes; return the time of one, and the memory it took."""
    import warnings

    settings: dict[str, Any] = {"solver": solver, "max_iter": PASSES, "tol": 1e-9}
    clock = Clock()
    settings |= {**FEATURES, "callbacks": [clock]}
    few = make_corpus(30)
    words, tags = few.column("words"), few.column("chunks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few passes are not enough, on purpose
        # Compiled code is no part of it.
        SequenceTagger(SOLVERS[solver], **settings).fit(words, tags)
        if memory is not None:
            tagger = SequenceTagger(SOLVERS[solver], **settings)
            tagger.fit(encoded(source, memory))
        else:
            data = read_columns(source)
            y = data.column_sequences(2)
            tagger = SequenceTagger(SOLVERS[solver], **settings)
            tagger.fit(data.without(2), y)
    np.save(output, tagger.weights_)
    spent = float(median(np.diff(clock.times)))
    return {"pass": spent, "own_mib": clock.most / MIB}


def refuse(folder: str, memory: int) -> dict[str, Any]:
    """Ask for a solver that keeps more than there is; it must not even start."""
    try:
        SequenceTagger("log_loss", solver="eg").fit(encoded(folder, memory))
    except OutOfMemoryError as error:
        small = own_memory() < memory / 2
        return {"refused": float(small), "message": str(error)}
    return {"refused": 0.0, "message": ""}
