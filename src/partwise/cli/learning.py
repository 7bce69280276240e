"""How to learn: options of training commands, made from the settings of estimators.

The default, the help text and the choices of such an option are those of the setting.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import typer

from partwise.cli.declared import (
    CONTEXT,
    Declared,
    as_command,
    field_options,
    flag_of,
    is_typed,
    parameters_without,
    with_values,
)
from partwise.cli.kinds import listed
from partwise.cli.options import LEARNING, RUN, AsJson, in_panel
from partwise.estimators.settings import Setting, default_C_sentence, settings_of
from partwise.solvers.names import list_solvers, solver_names

REFERENCE = "What the probabilities of a margin model stay close to"
PLAIN_TYPES = {"int": int, "float": float, "bool": bool}


class SettingOption(NamedTuple):
    """An option of training commands that is a setting of an estimator.

    Examples
    --------
    >>> from partwise.estimators.dependency.settings import DependencySettings
    >>> option = SettingOption("suffix").parameter(DependencySettings)
    >>> option.default, option.annotation.__metadata__[0].help
    (3, 'How many letters of the end of a word are a feature.')
    """

    setting: str
    """What the setting is called."""
    panel: str = LEARNING
    help: str = ""
    """Instead of the first sentence of the setting's documentation."""
    flags: tuple[str, ...] = ()
    """What it is called, if not as the setting."""
    default: Any = None
    """Instead of the default of the setting."""
    type: Any = None
    """How its text is read, if not as the setting says."""

    @property
    def name(self) -> str:
        """What the parameter of the command is called."""
        first = self.flags[0] if self.flags else self.setting
        return first.partition("/")[0].strip("-").replace("-", "_")

    def parameter(self, settings: type) -> inspect.Parameter:
        """Return the parameter of a command that trains with these settings."""
        found = settings_of(settings)[self.setting]
        default = found.default if self.default is None else self.default
        plain = self.type or _type_of(found)
        switch = f"--{self.setting.replace('_', '-')}"
        flags = self.flags or ((switch,) if default is False else ())
        values = f" One of {listed(found.choices, 'or')}." if found.choices else ""
        text = (self.help or _help(found, settings)) + values
        metavar = "NAME" if found.choices else None
        info = in_panel(self.panel, text, *flags, metavar=metavar)
        return inspect.Parameter(
            self.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default if self.type is None else self.type(default),
            annotation=Annotated[plain if default is not None else plain | None, info],
        )


def _type_of(setting: Setting) -> Any:
    if setting.default is not None:
        return type(setting.default)
    allowed = setting.allowed.type_text if setting.allowed else ""
    return PLAIN_TYPES.get((setting.type_text or allowed).split()[0], str)


def _help(setting: Setting, settings: type) -> str:
    """Return the first sentence of the documentation, with options for settings."""
    known = settings_of(settings)
    if setting.name == "solver":
        losses = known["loss"].choices
        if "penalty" in known:
            return f"The solver: {list_solvers(losses, known['penalty'].choices)}."
        names = [name for loss in losses for name in solver_names(loss, "divergence")]
        return f"The solver: {listed(['auto', *dict.fromkeys(names)], 'or')}."
    text = setting.sentence
    if setting.by_loss and default_C_sentence(setting.by_loss) in setting.doc:
        text += f" {default_C_sentence(setting.by_loss)}"
    for name in re.findall(r"(?<!`)`(\w+)`", text):
        if name in known:
            text = text.replace(f"`{name}`", f"--{name.replace('_', '-')}")
    text = text.replace("`", "").replace('"', "")
    return text.replace("development data", "--dev")


def options_in(panel: str, *settings: str) -> list[SettingOption]:
    """Return options for settings, as these describe themselves, in one panel."""
    return [SettingOption(setting, panel) for setting in settings]


SHARED = (
    *options_in(LEARNING, "loss", "penalty", "l1_ratio", "margin", "positive"),
    *options_in(LEARNING, "rescaling", "solver"),
    SettingOption("C", flags=("--C", "-C")),
    *options_in(LEARNING, "tol", "max_iter", "patience"),
    SettingOption("random_state", LEARNING, "Seed of everything random.", ("--seed",)),
    SettingOption("n_jobs", RUN, "Threads; -1 for one per core.", ("--jobs",)),
    *options_in(RUN, "checkpoint", "resume", "time_limit"),
)
"""Options of all training commands whose models have these settings."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of all training commands that are no settings of an estimator."""

    C_path: Annotated[
        str | None,
        in_panel(
            LEARNING,
            "Train with each of these values of C in turn, such as 0.01,0.1,1, and "
            "keep the model that is best on --dev.",
            "--C-path",
        ),
    ] = None
    float32: Annotated[
        bool, in_panel(RUN, "Save weights in half the space.", "--float32")
    ] = False
    verbose: Annotated[
        bool,
        in_panel(
            RUN,
            "Show progress and results, or only errors.",
            *("--verbose/--quiet", "-v/-q"),
        ),
    ] = True
    json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class Learning(RunOptions):
    """How to train a model, and what to do with the result; see `partwise train`."""

    settings: Mapping[str, Any]
    """The settings of the estimator that the command has options for."""
    flag: Callable[[str, object], str]
    """Returns the option that gives a setting a value."""
    typed: frozenset[str] = frozenset()
    """The settings whose options are on the command line; the others are defaults."""


def takes_learning(
    settings: type, *own: SettingOption
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options for settings, in place of a parameter ``learning``.

    Parameters
    ----------
    settings : type
        The class that declares the settings, or an estimator.
    *own : SettingOption
        Those that not all training commands have, and others in place of `SHARED`.

    Examples
    --------
    >>> from partwise.estimators.dependency.settings import DependencySettings
    >>> @takes_learning(DependencySettings, SettingOption("suffix"))
    ... def learn(train: str, learning: Learning) -> None:
    ...     print(train, learning.settings["suffix"], learning.settings["loss"])
    >>> learn(train="data.txt")
    data.txt 3 squared_hinge
    >>> list(inspect.signature(learn).parameters)[:3]
    ['train', 'suffix', 'loss']
    """
    known = settings_of(settings)
    own_names = {option.setting for option in own}
    shared = [one for one in SHARED if one.setting not in own_names]
    options = [one for one in (*own, *shared) if one.setting in known]
    parameters = [option.parameter(settings) for option in options]
    of_setting = dict(zip((one.setting for one in options), parameters, strict=True))
    as_text = {option.setting for option in options if option.type is not None}
    run_options = field_options(RunOptions)

    def as_flag(setting: str, value: object) -> str:
        if setting not in of_setting:
            return f"{setting}={value!r}"
        switch = flag_of(of_setting[setting], value)
        return switch if isinstance(value, bool) else f"{switch} {value}"

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        declared = Declared.by(parameters_without(command, "learning"))

        def run(context: typer.Context | None = None, **given: Any) -> None:
            about_run = {
                one.name: given.pop(one.name, one.default) for one in run_options
            }
            chosen = {
                setting: given.pop(one.name, one.default)
                for setting, one in of_setting.items()
            }
            for setting, value in chosen.items():
                flag = flag_of(of_setting[setting])
                if setting not in as_text:
                    replace(known[setting], name=flag).check(value)
            chosen["verbose"] = int(about_run["verbose"])
            typed = frozenset(s for s, p in of_setting.items() if is_typed(context, p))
            learning = Learning(**about_run, settings=chosen, flag=as_flag, typed=typed)
            command(**declared.grouped(given), learning=learning)

        everything = [*declared.parameters, *parameters, *run_options]
        return as_command(run, command, [*map(with_values, everything), CONTEXT])

    return decorate
