"""``partwise warm``: compile ahead what the first run would wait for."""

# Annotations are evaluated here and now, since the help of the command names the kinds.
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from partwise._jit.clock import Piece
from partwise.cli.kinds import Kind, resolve
from partwise.cli.options import AsJson
from partwise.errors import PartwiseError


def warm_command(kinds: Sequence[Kind]) -> Callable[..., None]:
    """Return the command, for the kinds of models that can be tried out."""
    known = {kind.name: kind for kind in kinds if kind.has("try_out")}

    def warm(
        what: Annotated[
            list[str] | None,
            typer.Argument(
                help=f"What to compile for: {', '.join(known)}; everything if nothing "
                "is named.",
                metavar="WHAT",
                show_default=False,
            ),
        ] = None,
        loss: Annotated[
            list[str] | None,
            typer.Option(
                help="The losses to train with (default: all).", metavar="NAME"
            ),
        ] = None,
        solver: Annotated[
            list[str] | None,
            typer.Option(
                help="The solvers to train with (default: the one that is chosen "
                "automatically).",
                metavar="NAME",
            ),
        ] = None,
        json: AsJson = False,
    ) -> None:
        """Compile ahead what the first run would wait for, for this processor.

        Every task is tried out with a tiny model. What is compiled stays on disk, for
        all programs: run this once after installing, or when a container is built.
        """
        unknown = [name for name in what or () if name not in known]
        if unknown:
            raise ValueError(
                f"there is nothing called {unknown[0]!r} to compile for (there are: "
                f"{', '.join(known)})"
            )
        chosen = [known[name] for name in what or known]
        done = _warm(chosen, loss or [], solver or ["auto"], quiet=json)
        _report(done, json)

    return warm


def _warm(
    kinds: Sequence[Kind], losses: Sequence[str], solvers: Sequence[str], *, quiet: bool
) -> dict[str, Any]:
    """Try all combinations out; return what that compiled."""
    from partwise._jit import Stopwatch, cache, listening
    from partwise._screen import open_screen
    from partwise.estimators.settings import settings_of
    from partwise.solvers.registry import make_solver

    cache.native_only = True
    for solver in solvers:
        if solver != "auto":
            make_solver(solver)
    jobs = []
    for kind in kinds:
        estimator: Any = resolve(kind.estimator)
        own = settings_of(estimator).get("loss")
        if own is None:  # a model of models, which have losses of their own
            jobs.append((kind, "", "auto"))
            continue
        for loss in losses or own.choices:
            for solver in solvers:
                try:
                    estimator(loss=loss, solver=solver)._check_settings()
                except (PartwiseError, ValueError):
                    # Of all losses, those that a solver minimises are meant.
                    if losses or solver == "auto":
                        raise
                else:
                    jobs.append((kind, loss, solver))
    if not jobs:
        raise ValueError(f"no loss is minimised by the solver {solvers[0]!r}")
    watch, screen = Stopwatch(), open_screen()
    for number, (kind, loss, solver) in enumerate(jobs, 1):
        title = f"{number} of {len(jobs)}: {kind.name}" + (f", {loss}" if loss else "")
        title += "" if solver == "auto" else f", {solver}"

        def tell(piece: Piece | None, title: str = title) -> None:
            if piece is not None and not quiet:
                screen.show(f"{title}: compiling {piece.name}", now=False)

        if not quiet:
            screen.show(title, now=True)
        with listening(tell), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tiny models are not worth a warning
            settings = {"loss": loss, "solver": solver, "max_iter": 20} if loss else {}
            kind.function("try_out")(**settings)
    screen.close()
    return {
        "tried": [
            f"{kind.name} {loss} {solver}" if loss else kind.name
            for kind, loss, solver in jobs
        ],
        "compiled": cache.counts["compiled"],
        "loaded": cache.counts["loaded"],
        "compile_seconds": watch.compile_seconds,
    }


def _report(done: dict[str, Any], json: bool) -> None:
    from partwise.cli.output import print_json, print_pairs

    if json:
        print_json(done)
        return
    print_pairs(
        "ready",
        [
            ("compiled now", done["compiled"]),
            ("were there before", done["loaded"]),
            ("seconds", round(done["compile_seconds"], 1)),
        ],
    )
