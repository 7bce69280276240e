"""What all training commands do: check the files, fit, save, show the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from partwise.characters import printable
from partwise.errors import Advice, DataError

if TYPE_CHECKING:
    from partwise.cli.learning import Learning
    from partwise.estimators.base import StructuredEstimator
    from partwise.solvers.loop import Solution

M = TypeVar("M", bound="StructuredEstimator")
# The sizes that are shown, in this order, as far as there are any: those of the data,
# then others that a kind counts, then those of the model.
SIZES_OF_DATA = (
    "lattices",
    "edges",
    "rows",
    "columns",
    "sentences",
    "tokens",
    "words",
)
SIZES_OF_MODEL = ("labels", "features", "weights", "passes")


@dataclass(frozen=True)
class TrainingRun:
    """What a command was asked to do, besides the settings of the model.

    Attributes
    ----------
    path : str
        Where to save the model.
    sources : mapping of str to str
        The files to read, by the name of their option: TRAIN, --dev if the command has
        it, and others.
    learning : Learning
        How to learn, as on the command line.
    """

    path: str
    sources: Mapping[str, str | None]
    learning: Learning

    def __post_init__(self) -> None:
        """Refuse options that cannot work, before anything is read."""
        from partwise import model_file
        from partwise.cli.overwriting import refuse_overwriting

        asked = self.learning
        train, dev = self.sources["TRAIN"], self.sources.get("--dev")
        checkpoint = asked.settings["checkpoint"]
        if asked.settings["resume"] and checkpoint is None:
            raise ValueError("--resume needs --checkpoint, the file to continue from")
        if asked.C_path is not None:
            _numbers(asked.C_path)
            if dev is None:
                raise ValueError("--C-path needs --dev, to choose the best C by")
            if asked.settings["C"] is not None:
                raise ValueError("give --C or --C-path, not both")
            if checkpoint is not None:
                raise ValueError("--C-path cannot be used with --checkpoint")
            if self.goes_on:
                raise ValueError("give --C-path or --continue, not both")
        if train == dev == "-":
            raise ValueError("TRAIN and --dev cannot both be standard input")
        written = {"--model": self.path, "--checkpoint": checkpoint}
        refuse_overwriting(written, self.sources)
        model_file.check_writable(self.path)

    @property
    def goes_on(self) -> bool:
        """Whether there is a model to learn on from: what is kept are its weights."""
        return self.sources.get("--continue") is not None

    def make(self, estimator: type[M], **settings: Any) -> M:
        """Return a model with the settings of the command line, and others.

        Of a model to learn on from, those change that the user typed. They are checked
        here, since reading a large file before `fit` takes time.
        """
        path, asked = self.sources.get("--continue"), self.learning
        if path is None:
            model = estimator(**{**asked.settings, **settings})
        else:
            typed = {name: asked.settings[name] for name in asked.typed}
            own = {
                name: value
                for name, value in settings.items()
                if (name in typed if name in asked.settings else value)
            }
            model = _saved(path, estimator)
            model.set_params(**typed | own, verbose=asked.settings["verbose"])
        model._check_settings()
        return model

    def fit_and_save(
        self,
        model: Any,
        X: Any,
        y: Any,
        dev: Any,
        sizes: Mapping[str, int],
        measure: Callable[[Any, Any], Mapping[str, float | None]] | None = None,
        tell: Callable[[Any], Mapping[str, Any]] | None = None,
        called: Mapping[str, str] | None = None,
        **options: Any,
    ) -> None:
        """Fit, save, and show the results.

        Parameters
        ----------
        model : estimator
            With its settings.
        X, y, dev
            As its ``fit`` takes them.
        sizes : mapping of str to int
            How large the training data is.
        measure : callable, optional
            Returns scores of the fitted model on `dev`, if that is given.
        tell : callable, optional
            Returns further facts about the fitted model, by name.
        called : mapping of str to str, optional
            What people call sizes and facts that have other names for programs.
        **options
            Other arguments of ``fit``.
        """
        from partwise import C_path
        from partwise._interrupts import Saving
        from partwise._jit import Stopwatch
        from partwise.cli.output import print_json
        from partwise.cli.training import fit, path_numbers, plain_warnings, summary

        asked, quiet = self.learning, not self.learning.verbose
        found = None
        watch = Stopwatch()
        with Saving() as saving:
            try:
                with saving.here():
                    if asked.C_path is None:
                        about = {"quiet": quiet, "goes_on": self.goes_on}
                        fit(model, X, y, dev, **about, **options)
                    else:
                        with plain_warnings(quiet):
                            Cs = _numbers(asked.C_path)
                            found = C_path(model, X, y, Cs, dev=dev, **options)
            except DataError as error:
                raise error.advising(self._in_flags) from error
            model = model if found is None else found.best_estimator
            times = watch.seconds, watch.compile_seconds
            model.save(self.path, dtype="float32" if asked.float32 else "float64")
        numbers = {"model": self.path, **sizes, **summary(model, *times)}
        if found is not None:
            numbers["C_path"] = path_numbers(found)
            numbers["interrupted"] = found.interrupted
        if measure is not None and dev is not None:
            numbers["dev"] = dict(measure(model, dev))
        own = {} if tell is None else dict(tell(model))
        numbers |= own
        if asked.json:
            print_json(numbers)
        elif asked.verbose:
            if found is not None:
                _show_path(numbers["C_path"], in_costs=_is_generative(model))
            if "candidates" in own:
                _show_candidates(own["candidates"])
            pairs = _sizes(numbers, sizes, own) + _facts(own)
            names = called or {}
            pairs = [(names.get(name, name), value) for name, value in pairs]
            _show(numbers, pairs, model.solution_, in_costs=_is_generative(model))
        if numbers["interrupted"]:
            said = f"{numbers['status']}; saved to {self.path}"
            typer.echo(printable(said), err=True)
            raise typer.Exit(130)

    def _in_flags(self, advice: Advice) -> str:
        """Return advice with an option of the command line in it."""
        return f"{self.learning.flag(advice.setting, advice.value)} {advice.effect}"


def _saved(path: str, estimator: type[M]) -> M:
    """Return a model of this class that was saved."""
    from partwise import load

    model = load(path)
    if type(model) is not estimator:
        raise DataError(
            f"{path} is a model of the kind {type(model).__name__}; --continue needs a "
            f"{estimator.__name__}"
        )
    return model


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--C-path must be numbers separated by commas, such as 0.01,0.1,1, not "
            f"{text!r}"
        ) from None


def _is_generative(model: object) -> bool:
    """Say whether the score on development data is a negative cost, not a share."""
    return hasattr(model, "objective_")


def _show_path(rows: list[dict[str, Any]], *, in_costs: bool) -> None:
    from partwise.cli.output import Percent, print_table

    cells: list[list[object]] = [
        [
            row["C"],
            row["passes"],
            round(row["seconds"], 2),
            "" if row["gap"] is None else Percent(row["gap"]),
            _cost(row["dev_score"]) if in_costs else Percent(row["dev_score"]),
        ]
        for row in rows
    ]
    dev = "dev cost" if in_costs else "dev score"
    print_table("tried", ["C", "passes", "seconds", "gap", dev], cells)


def _show_candidates(rows: list[dict[str, Any]]) -> None:
    from partwise.cli.output import print_table

    print_table(
        "tried on held-out sequences: the cost of mistakes per sequence, and the gain",
        ["objective", "reference", "C", "cost", "gain", "standard error"],
        [
            ["" if cell is None else _rounded(cell) for cell in row.values()]
            for row in rows
        ],
    )


def _if_much(seconds: float) -> float | None:
    return round(seconds, 2) if seconds > 1.0 else None


def _rounded(cell: Any) -> Any:
    return float(f"{cell:.4g}") if isinstance(cell, float) else cell


def _cost(score: float) -> Any:
    """Return the cost that a score, which is better the larger it is, stands for."""
    return _rounded(0.0 - score)


def _sizes(
    numbers: Mapping[str, Any], sizes: Mapping[str, int], own: Mapping[str, Any]
) -> list[tuple[str, Any]]:
    """Return the sizes of data and model, but for those that are facts of their own."""
    known = (*SIZES_OF_DATA, *SIZES_OF_MODEL)
    others = [name for name in sizes if name not in known]
    order = (*SIZES_OF_DATA, *others, *SIZES_OF_MODEL)
    pairs = [
        (name, numbers[name]) for name in order if name in numbers and name not in own
    ]
    if numbers["nonzero_weights"] < numbers["weights"]:
        after = 1 + [name for name, _ in pairs].index("weights")
        pairs.insert(after, ("not zero", numbers["nonzero_weights"]))
    return pairs


def _facts(own: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the facts that fit into a line, with words instead of names."""
    return [
        (name.replace("_", " "), value)
        for name, value in own.items()
        if isinstance(value, str | int | float)
    ]


def _show(
    numbers: dict[str, Any],
    pairs: Sequence[tuple[str, Any]],
    solution: Solution,
    *,
    in_costs: bool,
) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import Percent, print_pairs

    best = numbers["best_dev_score"]
    why = numbers["solver_reason"]
    solver = numbers["solver"]
    rest = [
        ("C", numbers["C"]),
        ("solver", f"{solver} ({why})" if why else solver),
        ("seconds", round(numbers["seconds"], 2)),
        ("seconds to compile", _if_much(numbers["compile_seconds"])),
        *certificates.in_pairs(solution.certificate),
        ("best dev score", None if in_costs else best),
        ("least dev cost", _cost(best) if in_costs and best is not None else None),
        *(
            (f"dev {name.upper()}", Percent(share))
            for name, share in numbers.get("dev", {}).items()
            if share is not None
        ),
        ("model", numbers["model"]),
    ]
    print_pairs("trained", [*pairs, *rest])
    certificates.print_ending(solution)
