"""``partwise demo``: a generated corpus, a model, and what it predicts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from partwise.cli.declared import as_command, parameters_without
from partwise.cli.kinds import Kind, refuse_several
from partwise.cli.options import AsJson

if TYPE_CHECKING:
    from partwise.synthetic import Corpus

PARTS = ("train", "dev", "test")


class Data(NamedTuple):
    """Examples to train or test on."""

    X: Sequence[Any]
    y: Sequence[Any] | None
    size: int
    """How many tokens, or words."""


class Tested(NamedTuple):
    """The result of a test."""

    found: Mapping[str, Any]
    """For programs, by name."""
    pairs: Sequence[tuple[str, object]]
    """Scores, for people."""
    show: Callable[[], None]
    """Prints some of the test sentences."""


@dataclass(frozen=True, kw_only=True)
class Demo:
    """How a kind shows what it can do with generated sentences.

    Attributes
    ----------
    flag, help : str
        The option that chooses it, and its help; None for the demo without options.
    write : callable
        Returns a corpus as the text of a file.
    ending, model : str
        How the names of these files end; the name of a model trained on them.
    command : str
        What trains such a model, after ``partwise train``.
    look : str
        The command to try next: predict or show.
    unit : str
        What sentences consist of: words or tokens.
    read : callable
        Returns what a model is trained on, or tested.
    make : callable
        Returns a model to train, given a seed and whether to show progress.
    test : callable
        Tests a trained model.
    note : str
        What is said about sentences that are left out, if any are.
    """

    flag: str | None = None
    help: str = ""
    write: Callable[[Corpus], str]
    ending: str
    model: str
    command: str
    look: str = "show"
    unit: str = "words"
    read: Callable[[Corpus], Data]
    make: Callable[[int, int], Any]
    test: Callable[[Any, Data], Tested]
    note: str = ""


def demo_command(kinds: Sequence[Kind]) -> Callable[..., None]:
    """Return the command, with an option for every kind that shows what it can do."""
    demos = [_demo_of(kind) for kind in kinds if kind.has("demo")]
    flags = {one.flag: one for one in demos if one.flag is not None}
    names = {flag.removeprefix("--").replace("-", "_"): flag for flag in flags}
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=False,
            annotation=Annotated[bool, typer.Option(flag, help=flags[flag].help)],
        )
        for name, flag in names.items()
    ]

    def run(**values: Any) -> None:
        asked = [flag for name, flag in names.items() if values.pop(name)]
        refuse_several(asked)
        unasked = next(one for one in demos if one.flag is None)
        demo(**values, task=flags[asked[0]] if asked else unasked)

    return as_command(run, demo, [*parameters_without(demo, "task"), *options])


def _demo_of(kind: Kind) -> Demo:
    found = kind.function("demo")
    if not isinstance(found, Demo):
        raise TypeError(
            f"the demo of {kind.many} must be a partwise.cli.demo.Demo, not {found!r}"
        )
    return found


def demo(
    size: Annotated[
        int, typer.Option(min=20, help="How many sentences to generate.")
    ] = 3000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the corpus.")] = 0,
    save_data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Only write the corpus to train, dev and test files in this folder.",
        ),
    ] = None,
    json: AsJson = False,
    *,
    task: Demo,
) -> None:
    """Train a model on generated sentences and show what it predicts.

    The task is chunking: finding noun phrases, verb phrases and so on, given words
    and their parts of speech.
    """
    parts = make_parts(size, seed)
    if save_data is not None:
        _save(parts, save_data, json, task)
    else:
        train_and_show(parts["train"], parts["test"], seed, json, task)


def make_parts(size: int, seed: int) -> dict[str, Corpus]:
    """Generate a corpus: 80% to train on, 10% to develop on, 10% to test on."""
    from partwise.synthetic import make_corpus

    # With a little noise, as in real data, no model can be perfect.
    train, rest = make_corpus(size, seed, noise=0.01).split(0.2)
    return dict(zip(PARTS, (train, *rest.split(0.5)), strict=True))


def _next_steps(folder: Path, task: Demo) -> list[str]:
    """Return the commands that train a model on saved data, and test it."""
    train, dev, test = (folder / f"{part}.{task.ending}" for part in PARTS)
    model = folder / f"{task.model}.partwise"
    return [
        f"  partwise train {task.command} {train} --dev {dev} --model {model}",
        f"  partwise evaluate {model} {test}",
    ]


def _save(parts: dict[str, Corpus], folder: Path, json: bool, task: Demo) -> None:
    from partwise.cli.output import print_json
    from partwise.data import open_output

    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{name}.{task.ending}" for name in parts}
    for name, corpus in parts.items():
        with open_output(paths[name]) as out:
            out.write(task.write(corpus))
    if json:
        print_json({name: str(path) for name, path in paths.items()})
        return
    for name, path in paths.items():
        typer.echo(f"{path}: {len(parts[name]):,} sentences")
    typer.echo("\n".join(["\nNext:", *_next_steps(folder, task)]))


def train_and_show(
    train: Corpus, test: Corpus, seed: int, json: bool, task: Demo
) -> None:
    """Train a model on one part of a corpus, and test it on another."""
    from partwise._jit import Stopwatch
    from partwise.cli.output import print_json
    from partwise.cli.training import fit, summary

    data, others = task.read(train), task.read(test)
    if not json:
        typer.echo(
            f"Training on {len(data.X):,} generated sentences{task.note}, "
            f"testing on {len(others.X):,} others ..."
        )
    model = task.make(seed, int(not json))
    watch = Stopwatch()
    fit(model, data.X, data.y, quiet=json)
    times = watch.seconds, watch.compile_seconds
    sizes = {"sentences": len(data.X), task.unit: data.size}
    numbers = {**sizes, **summary(model, *times)}
    tested = task.test(model, others)
    if json:
        print_json({"training": numbers, **tested.found})
    else:
        _show(numbers, model.solution_, task, tested)
    if numbers["interrupted"]:
        raise typer.Exit(130)


def _show(numbers: dict[str, Any], solution: Any, task: Demo, tested: Tested) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import print_pairs

    typer.echo()
    print_pairs(
        "the model",
        [
            (f"training {task.unit}", numbers[task.unit]),
            ("labels", numbers["labels"]),
            ("features", numbers.get("features")),
            ("weights", numbers["weights"]),
            ("passes", numbers["passes"]),
            ("seconds", round(numbers["seconds"], 2)),
            *certificates.in_pairs(solution.certificate),
            *tested.pairs,
        ],
    )
    certificates.print_ending(solution)
    tested.show()
    flag = "" if task.flag is None else f"{task.flag} "
    test, model = f"demo/test.{task.ending}", f"demo/{task.model}.partwise"
    look = f"{model} {test}" if task.look == "predict" else f"{test} --model {model}"
    steps = [
        "\nwhat to try next",
        f"  partwise demo {flag}--save-data demo",
        *_next_steps(Path("demo"), task),
        f"  partwise {task.look} {look} --marginals",
        f"  partwise inspect {model}",
    ]
    typer.echo("\n".join(steps))
