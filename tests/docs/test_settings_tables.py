"""What pages say about settings, ours and those of other programs, is true."""

import ast
import re
from typing import Any

import pytest
from typer.main import get_command

from partwise import (
    ConstituencyParser,
    DependencyParser,
    GraphLabeler,
    LatticeRanker,
    MulticlassClassifier,
    SegmentTagger,
    SequenceTagger,
)
from partwise.cli.app import app
from partwise.solvers import AROW, LBFGS, PassiveAggressive
from places import ROOT
from tables import Row, codes, find_table, read_tables

SETTINGS_PAGE = ROOT / "docs" / "guide" / "settings.md"
COMING_FROM = ROOT / "docs" / "coming_from.md"
ESTIMATORS = (
    SequenceTagger,
    SegmentTagger,
    MulticlassClassifier,
    GraphLabeler,
    LatticeRanker,
    DependencyParser,
    ConstituencyParser,
)
BY_NAME = {cls.__name__: cls for cls in ESTIMATORS}
SOLVERS = {cls.__name__: cls for cls in (AROW, LBFGS, PassiveAggressive)}


# --- our own ---


def test_table_of_settings_tells_their_defaults() -> None:
    """Taggers and classifiers have the defaults of the table, in this order."""
    tagger, classifier = SequenceTagger(), MulticlassClassifier()
    told = 0
    for row in find_table(SETTINGS_PAGE, "setting", "when to change it"):
        cell = row["default (tagger / classifier)"]
        names = codes(row["setting"])
        if names in (["C"], ["loss"]):  # these depend; other tests ask about them
            continue
        values = [None if v == "none" else v for v in re.split(r" / |, ", cell)]
        values = [v and ast.literal_eval(v.split(" (")[0].strip("`")) for v in values]
        shared = tagger, classifier
        if " / " in cell:
            assert [model.get_params()[names[0]] for model in shared] == values
        else:
            both = shared[:1] if "(tagger)" in cell else shared
            values *= len(names) // len(values)
            for name, value in zip(names, values, strict=True):
                params = [model.get_params() for model in both]
                assert [one[name] for one in params if name in one], name
                assert all(one.get(name, value) == value for one in params), name
        told += len(names)
    assert told >= 11


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_table_of_costs_of_losses_is_that_of_the_code(cls: Any) -> None:
    of_numbers = {}
    rows = find_table(SETTINGS_PAGE, "estimator", "`squared_hinge`", "`hinge`")
    named = [codes(row["estimator"])[:1] == [cls.__name__] for row in rows]
    place = named.index(True)
    losses = "squared_hinge", "hinge", "log_loss"
    assert {loss: float(rows[place][f"`{loss}`"]) for loss in losses} == cls.default_C
    following = rows[place + 1]
    if following["estimator"] == "the same, rows of numbers":
        for loss in losses:
            number, size = following[f"`{loss}`"].split(" / ")
            assert size == "size"
            of_numbers[loss] = float(number)
    assert of_numbers == getattr(cls, "default_C_of_numbers", {})


# --- those of others ---


def _objective(text: str) -> str:
    """Return an objective as Python: of a loss L and of norms W1 and W2."""
    text = text.replace("\\|", "|").replace("|w|^2", "W2").replace("|w|_1", "W1")
    text = re.sub(r"sum -log p|sum of hinges", "L", text)
    # A factor stands before what it multiplies.
    return re.sub(r"(?<=[\w)]) (?=[WL])", " * ", text)


@pytest.mark.parametrize(
    "row",
    find_table(COMING_FROM, "package", "its objective", "`C` here"),
    ids=lambda row: row["package"],
)
def test_table_of_penalties_has_the_same_optimum(row: Row) -> None:
    """Our objective with the C of the table is a multiple of the package's own."""
    known = {"c1": 0.3, "c2": 0.7, "c": 1.7, "C": 0.9, "rho1": 0.2, "rho2": 1.3, "n": 7}
    C, *others = codes(row["`C` here"])
    ours: dict[str, Any] = {"l1_ratio": 0.0, "C": eval(C, {}, known)}
    for other in others:
        if other == 'penalty="l1"':
            ours["l1_ratio"] = 1.0
        elif other != "l1_ratio":
            name, formula = other.split(" = ")
            ours[name] = eval(formula, {}, known)
    if row["package"].startswith("scikit-learn"):
        assert C == "C"
    theirs = _objective(codes(row["its objective"])[0])
    ratios = set()
    for norms in ({"W1": 2.0, "W2": 3.0, "L": 5.0}, {"W1": 7.0, "W2": 1.0, "L": 0.5}):
        here = "(1 - l1_ratio) / 2 * W2 + l1_ratio * W1 + C * L"
        one, other = eval(here, {}, ours | norms), eval(theirs, {}, known | norms)
        ratios.add(round(one / other, 12))
    assert len(ratios) == 1


def _options(command: Any = None) -> dict[str, set[str]]:
    """Return the options of all commands, with the words that say what they take."""
    found: dict[str, set[str]] = {}
    command = command or get_command(app)
    for child in getattr(command, "commands", {}).values():
        for name, told in _options(child).items():
            found.setdefault(name, set()).update(told)
    for one in command.params:
        if one.param_type_name == "option":
            told = set(re.split(r"[ ,.;]+", one.help or ""))
            found.update({name: told for name in one.opts})
    return found


def test_tables_of_other_programs_name_options_that_exist() -> None:
    options, seen = _options(), set()
    for table in read_tables(COMING_FROM):
        for row in table:
            for code in codes(row.get("Partwise", "")):
                for name, value in re.findall(r"(--[\w-]+)(?: ([a-z][\w-]*))?", code):
                    assert name in options, row
                    assert not value or value in options[name], f"{name} {value}"
                    seen.add(name)
    assert len(seen) > 15


def test_tables_of_other_programs_name_settings_that_exist() -> None:
    """Estimators take what the tables set, and solvers what is set of them."""
    seen = 0
    for table in read_tables(COMING_FROM):
        for row in table:
            for code in codes(row.get("Partwise", "")):
                given = re.fullmatch(r"(?:(\w+)\()?(\w+=[^=]+?)\)?", code)
                if not given or " = " in code or code == 'sign="negative"':
                    continue  # a formula, or what a method takes
                cls = BY_NAME.get(given[1] or "SequenceTagger", SequenceTagger)
                call = code if given[1] in BY_NAME else f"{cls.__name__}({code})"
                model = eval(call, {**BY_NAME, **SOLVERS})
                model._check_settings()
                seen += 1
    assert seen > 15
