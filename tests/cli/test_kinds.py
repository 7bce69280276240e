"""Kinds of models: what they bring to the commands, and how packages add their own."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

import partwise
from partwise.cli.app import make_app
from partwise.cli.kind_options import KindOptions
from partwise.cli.kinds import Kind, built_in_kinds
from partwise.cli.options import JsonLines, KBest

FILES = Path(__file__).parent / "sorters"
"""A package that adds a kind, as a user would write it."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package, and one that is broken in two ways."""
    path = tmp_path_factory.mktemp("site")
    for module in FILES.glob("*.py"):
        (path / module.name).write_text(module.read_text())
    install(path, "sorters", "sorter = sorters:KIND")
    return path


def install(path: Path, name: str, *points: str) -> None:
    info = path / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    lines = "\n".join(["[partwise.kinds]", *points])
    (info / "entry_points.txt").write_text(f"{lines}\n")


def partwise_with(site: Path, *arguments: object) -> Any:
    """Run the program in a process of its own that finds the packages of a folder."""
    source = Path(partwise.__file__).parents[1]
    places = os.pathsep.join([str(site), str(source)])
    return subprocess.run(
        [sys.executable, "-m", "partwise", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            **{"PYTHONPATH": places, "NUMBA_DISABLE_JIT": "1", "COLUMNS": "80"},
        },
    )


def test_kinds_of_other_packages_have_all_commands(site: Path, tmp_path: Path) -> None:
    train, test, model = (tmp_path / name for name in ("train", "test", "m.partwise"))
    train.write_text("fruit\tred round\nroot\tlong brown\nfruit\tred sweet\n")
    test.write_text("red\nbrown long\n")
    trained = partwise_with(site, "train", "sorter", train, "-m", model, "-q", "--json")
    assert trained.returncode == 0, trained.stderr
    assert json.loads(trained.stdout)["lines"] == 3
    found = partwise_with(site, "predict", model, test, "--loud")
    assert (found.stdout, found.returncode) == ("FRUIT\nROOT\n", 0), found.stderr
    shown = partwise_with(site, "inspect", model, "--top", 3).stdout
    assert "lines of words" in shown
    assert "brown" in shown
    refused = partwise_with(site, "predict", model, test, "--spans")
    assert refused.stderr == (
        "error: --spans is for taggers, segment taggers and hidden Markov models, but "
        f"{model} is a sorter; leave it out\n"
    )
    assert refused.returncode == 2


def test_kinds_of_other_packages_are_in_the_help(site: Path) -> None:
    assert "sorter        Train a sorter" in partwise_with(site, "train", "-h").stdout
    shown = partwise_with(site, "predict", "--help").stdout
    assert "Sorters read lines of words" in shown
    assert "─ Sorters ─" in shown
    assert "--loud" in shown


def test_broken_kinds_are_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("import no_such_module\n")
    (tmp_path / "clashing.py").write_text(
        "from partwise.cli.kinds import Kind\n"
        "def predict(model, input, output, *, spans: int = 3): ...\n"
        "KIND = Kind(estimator='x:X', one='a clash', many='clashes', predict=predict)\n"
    )
    install(tmp_path, "mine", "oops = broken:KIND", "clash = clashing:KIND")
    shown = partwise_with(tmp_path, "predict", "--help")
    first, second = sorted(shown.stderr.splitlines())
    assert first.startswith("warning: skipped the kind clash of mine: ValueError")
    assert "--spans is declared differently by taggers and clashes" in first
    assert second == (
        "warning: skipped the kind oops of mine: ModuleNotFoundError: "
        "No module named 'no_such_module'"
    )
    assert shown.returncode == 0
    assert "─ Taggers, segment taggers and hidden Markov models ─" in shown.stdout
    assert "clashes" not in shown.stdout.lower()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit", "SystemExit"),
        ("KIND = {}", "TypeError: expected a partwise.cli.kinds.Kind, not dict"),
        (
            "from sorters import KIND\nfrom dataclasses import replace\n"
            "KIND = replace(KIND, command=None)",
            "ValueError: sorters have train but no command, the name of that command "
            "below partwise train",
        ),
        (
            "from sorters import KIND\nfrom dataclasses import replace\nDEMO = None\n"
            "KIND = replace(KIND, demo='bad:DEMO')",
            "TypeError: the demo of sorters must be a partwise.cli.demo.Demo, not None",
        ),
    ],
)
def test_broken_kinds_say_what_is_wrong(tmp_path: Path, code: str, why: str) -> None:
    for module in FILES.glob("*.py"):
        (tmp_path / module.name).write_text(module.read_text())
    (tmp_path / "bad.py").write_text(f"{code}\n")
    install(tmp_path, "mine", "bad = bad:KIND")
    shown = partwise_with(tmp_path, "--help")
    assert shown.stderr == f"warning: skipped the kind bad of mine: {why}\n"
    assert shown.returncode == 0


@pytest.mark.parametrize("recognises", ["no_such_module:look", lambda *_: 1 / 0])
def test_kinds_that_cannot_look_at_files_leave_them_to_others(
    tmp_path: Path, recognises: Any
) -> None:
    def compare(file: str) -> None: ...

    broken = Kind(
        **{"estimator": "x:X", "one": "a sieve", "many": "sieves"},
        compare=compare,
        recognises=recognises,
    )
    (tmp_path / "words").write_text("a A A\nb B A\n\n")
    app = make_app([*built_in_kinds(), broken])
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "words"), "--json"])
    assert json.loads(result.stdout)["tokens"] == 2
    (said,) = result.stderr.splitlines()
    assert said.startswith("warning: the kind X cannot tell whether")
    assert "Error: " in said


def test_files_without_a_model_must_be_of_one_kind_that_needs_none(
    tmp_path: Path,
) -> None:
    app = make_app(built_in_kinds())
    lattices, trees, rows = (str(tmp_path / n) for n in ("a.jsonl", "b", "c.conllu"))
    Path(lattices).write_text("{}\n")
    Path(trees).write_text("(S (NP (N Dogs)) (VP (V bark)))\n")
    Path(rows).write_text("Dogs\tN\t0\n\n")

    def said(*files: str) -> str:
        return CliRunner().invoke(app, ["evaluate", *files]).stderr

    for files in ([lattices], [lattices, lattices]):
        assert said(*files) == (
            f"error: lattices need a model: partwise evaluate MODEL {lattices}\n"
        )
    assert said(trees, rows) == (
        f"error: these two files are different kinds of data: {trees} is read as trees "
        f"in brackets and {rows} is read as dependency trees\n"
    )


def test_training_shows_sizes_of_any_name(site: Path, tmp_path: Path) -> None:
    (tmp_path / "train").write_text("fruit\tred round\nroot\tlong brown\n")
    shown = partwise_with(
        site, "train", "sorter", tmp_path / "train", "-m", tmp_path / "m"
    )
    assert shown.stdout.splitlines()[1].split() == ["lines", "2"]


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, typer.testing; from partwise.cli.app import app\n"
        "typer.testing.CliRunner().invoke(app, ['predict', '--help'])\n"
        "print({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "set()\n", found.stderr


# --- options ----------------------------------------------------------------------


class Warm(StrEnum):
    red = "red"
    both = "both"


class Cold(StrEnum):
    blue = "blue"
    both = "both"


COLOUR = typer.Option(help="A colour.", metavar="NAME")


def warm(
    model: Any, top: int, *, colour: Annotated[Warm | None, COLOUR] = None
) -> None:
    print(repr(colour))


def cold(
    model: Any,
    top: int,
    *,
    colour: Annotated[Cold | None, COLOUR] = None,
    frost: bool = False,
) -> None:
    print(repr(colour), frost)


def with_two(tmp_path: Path) -> tuple[typer.Typer, Path, Path]:
    """Return a program for two kinds, and a model of each."""
    taggers, classifiers = (
        next(kind for kind in built_in_kinds() if kind.one == one)
        for one in ("a tagger", "a classifier")
    )
    kinds = [replace(taggers, inspect=warm), replace(classifiers, inspect=cold)]
    first, second = tmp_path / "tagger", tmp_path / "classifier"
    partwise.SequenceTagger(C=1.0).fit([[["a"], ["b"]]], [["A", "B"]]).save(first)
    fruit = partwise.MulticlassClassifier().fit([{"red": 1}, {"green": 1}], ["a", "b"])
    fruit.save(second)
    return make_app(kinds), first, second


def test_options_of_a_kind_are_its_own_values(tmp_path: Path) -> None:
    app, first, second = with_two(tmp_path)

    def said(*arguments: object) -> str:
        result = CliRunner().invoke(app, ["inspect", *map(str, arguments)])
        return result.stdout + result.stderr

    assert said(first, "--colour", "both") == f"{Warm.both!r}\n"
    assert said(second, "--colour", "both", "--frost") == f"{Cold.both!r} True\n"
    assert said(second) == "None False\n"
    assert said(second, "--colour", "red") == (
        f"error: --colour red is for taggers, but {second} is a classifier; "
        "use --colour blue or both\n"
    )
    assert said(first, "--frost") == (
        f"error: --frost is for classifiers, but {first} is a tagger; leave it out\n"
    )
    # What was typed counts, even if it is the default.
    assert "--frost" not in said(first, "--colour", "red")
    assert "--no-frost is for classifiers" in said(first, "--no-frost")


def test_options_that_kinds_declare_differently_are_refused() -> None:
    def first(model: Any, input: str, output: str, *, kbest: KBest = None) -> None: ...

    def second(model: Any, input: str, output: str, *, kbest: KBest = 1) -> None: ...

    def third(
        model: Any, input: str, output: str, *, kbest: JsonLines = False
    ) -> None: ...

    def kind(name: str, predict: Any) -> Kind:
        return Kind(estimator="x:X", one=f"a {name}", many=f"{name}s", predict=predict)

    one = kind("one", first)
    assert len(KindOptions(["predict"], [one, kind("two", first)]).parameters) == 1
    for other in (second, third):
        message = "--kbest is declared differently by ones and others"
        with pytest.raises(ValueError, match=message):
            KindOptions(["predict"], [one, kind("other", other)])


def test_kinds_with_the_same_command_are_refused() -> None:
    kinds = built_in_kinds()
    with pytest.raises(ValueError, match="partwise train tag is for taggers and for"):
        make_app([*kinds, replace(kinds[1], command="tag")])
