"""The names of the solvers, by loss and penalty; imports nothing but the language.

Help texts, documentation and defaults are written from this table. A test compares it
with the solvers themselves.
"""

from __future__ import annotations

from collections.abc import Iterable

LOSS_NAMES = {
    "squared_hinge": "the squared hinge",
    "hinge": "the hinge",
    "set_hinge": "the hinge over wrong outputs",
    "log_loss": "the log loss",
}
"""What losses are called in sentences."""

_COLUMN_GENERATION = (
    "column-generation",
    "column-generation-highs",
    "column-generation-chambolle-pock",
    "column-generation-extragradient",
    "column-generation-pdlp",
    "column-generation-printed",
)
_SIMPLICIAL = ("simplicial", "simplicial-coordinate", "simplicial-online")

MINIMISERS: dict[tuple[str, str], tuple[str, ...]] = {
    ("squared_hinge", "l2"): (
        "dcd", "dcd-ssvm", "dcd-light", "cpd", "cutting-plane", *_SIMPLICIAL, "sgd",
    ),
    ("hinge", "l2"): (
        "frank-wolfe", "smo", "smo-eg", "eg", "eg-batch", "eg-primal", "eg-halving",
        "cutting-plane",
        *_SIMPLICIAL, "sgd",
    ),
    ("log_loss", "l2"): (
        "eg", "eg-batch", "eg-primal", "eg-halving", "sdca", "lbfgs", "cg", "owlqn",
        "sgd",
    ),
    ("squared_hinge", "elasticnet"): ("dcd", "dcd-ssvm", "dcd-light", "cpd"),
    ("hinge", "elasticnet"): (
        "frank-wolfe", "smo", "smo-eg", "eg", "eg-batch", "eg-primal", "eg-halving",
    ),
    ("log_loss", "elasticnet"): (
        "eg", "eg-batch", "eg-primal", "eg-halving", "sdca", "owlqn",
    ),
    ("squared_hinge", "l1"): ("proximal",),
    ("log_loss", "l1"): ("proximal", "owlqn"),
    ("hinge", "l1"): (*_COLUMN_GENERATION, "proximal"),
    ("hinge", "positive l1"): _COLUMN_GENERATION,
    ("set_hinge", "l1"): _COLUMN_GENERATION,
    ("set_hinge", "positive l1"): _COLUMN_GENERATION,
    ("hinge", "divergence"): _SIMPLICIAL,
    ("squared_hinge", "divergence"): _SIMPLICIAL,
    ("hinge", "reverse divergence"): _SIMPLICIAL,
    ("squared_hinge", "reverse divergence"): _SIMPLICIAL,
}  # fmt: skip
"""Which solvers minimise a loss with a penalty; ``solver="auto"`` means the first."""

MISTAKE_DRIVEN = ("perceptron", "mira", "mira-kbest", "pa", "arow")
"""Those that run with any loss and the L2 penalty, and minimise no objective."""


def solver_names(loss: str, penalty: str = "l2") -> tuple[str, ...]:
    """Return the names of the solvers for a loss and a penalty, the default first.

    Examples
    --------
    >>> solver_names("log_loss", "l1")
    ('proximal', 'owlqn')
    >>> solver_names("squared_hinge")[0]
    'dcd'
    """
    others = MISTAKE_DRIVEN if penalty == "l2" else ()
    return MINIMISERS.get((loss, penalty), ()) + others


def list_solvers(losses: Iterable[str], penalties: Iterable[str] = ("l2",)) -> str:
    """Return what a help text says about the names that an option accepts.

    Examples
    --------
    >>> print(list_solvers(["log_loss"], ["l1", "positive l1"]))
    auto; proximal or owlqn for log_loss with penalty l1
    """
    penalties = tuple(penalties)
    clauses = ["auto"]
    for loss in losses:
        goals: dict[tuple[str, ...], list[str]] = {}
        for penalty in penalties:
            if names := MINIMISERS.get((loss, penalty)):
                goals.setdefault(names, []).append(penalty)
        for names, able in goals.items():
            suffix = "" if able == ["l2"] else f" with penalty {either(able)}"
            clauses.append(f"{either(names)} for {loss}{suffix}")
    if "l2" in penalties:
        clauses.append(f"{either(MISTAKE_DRIVEN)} with any loss, minimising none")
    return "; ".join(clauses)


def either(names: Iterable[str]) -> str:
    """Return names to choose from, as in a sentence.

    Examples
    --------
    >>> either(["eg", "lbfgs", "sgd"])
    'eg, lbfgs or sgd'
    """
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
