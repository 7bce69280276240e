"""Options of training commands and the settings of the estimators they train."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from typing import Any

import pytest

from partwise.cli.declared import parts_of
from partwise.cli.kinds import Kind, built_in_kinds, resolve
from partwise.estimators.settings import default_C_sentence, settings_of
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN

TRAINED = [kind for kind in built_in_kinds() if kind.has("train")]
# Models that minimise something themselves; a pipeline leaves that to its steps.
LEARNERS = [kind for kind in TRAINED if "loss" in settings_of(resolve(kind.estimator))]
RENAMED = {"seed": "random_state", "jobs": "n_jobs", "missing_values": "missing"}
# Options that mean something else, or whose default is meant to differ: "auto" is what
# the command line recommends, and there costs have names.
DIFFERENT = {
    *{("hmm", "objective"), ("hmm", "costs"), ("bayesnet", "costs")},
    *{("tag", "costs"), ("segments", "costs")},
    *{("bayesnet", "missing"), ("bayesnet", "target")},
}


def settings_and_options(kind: Kind) -> list[tuple[Any, inspect.Parameter]]:
    known = settings_of(resolve(kind.estimator))
    signature = inspect.signature(kind.function("train"), eval_str=True)
    options = signature.parameters.values()
    pairs = [(RENAMED.get(one.name, one.name), one) for one in options]
    return [
        (known[name], one)
        for name, one in pairs
        if name in known
        and name != "verbose"
        and (kind.command, one.name) not in DIFFERENT
    ]


def words(option: inspect.Parameter) -> str:
    text: str = parts_of(option.annotation)[1].help
    return text


@pytest.mark.parametrize("kind", TRAINED, ids=lambda kind: kind.command)
def test_defaults_and_choices_are_those_of_the_settings(kind: Kind) -> None:
    pairs = settings_and_options(kind)
    assert len(pairs) > (10 if kind in LEARNERS else 4)
    for setting, option in pairs:
        # A number, or "all".
        is_text = setting.name == "horizontal"
        assert option.default == (str(setting.default) if is_text else setting.default)
        told = re.search(r"One of (.+)\.$", words(option))
        choices = tuple(re.split(", | or ", told[1])) if told else ()
        assert choices == setting.choices, option.name


@pytest.mark.parametrize("kind", LEARNERS, ids=lambda kind: kind.command)
def test_help_tells_the_default_C_and_all_solvers(kind: Kind) -> None:
    options = {setting.name: words(one) for setting, one in settings_and_options(kind)}
    settings = settings_of(resolve(kind.estimator))
    penalties = settings["penalty"].choices if "penalty" in settings else ["divergence"]
    if "penalty" in settings:
        assert default_C_sentence(settings["C"].by_loss or {}) in options["C"]
        assert all(name in options["solver"] for name in MISTAKE_DRIVEN)
    for loss in settings["loss"].choices:
        for penalty in penalties:
            for name in MINIMISERS.get((loss, penalty), ()):
                assert name in re.split(r"[ ,;.]+", options["solver"])


def test_documentation_of_estimators_lists_all_solvers() -> None:
    doc = settings_of(resolve(TRAINED[0].estimator))["solver"].doc
    for (loss, penalty), names in MINIMISERS.items():
        if loss != "set_hinge" and penalty != "divergence":
            assert set(names) <= set(re.split(r"[ ,;.]+", doc))


def test_help_of_training_commands_imports_nothing_heavy() -> None:
    commands = [kind.command for kind in TRAINED]
    code = (
        "import sys, typer.testing; from partwise.cli.app import app\n"
        f"for name in {commands}:\n"
        "    run = typer.testing.CliRunner().invoke(app, ['train', name, '--help'])\n"
        "    assert '--model' in run.output\n"
        "print({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "set()\n", found.stderr
