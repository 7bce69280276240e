"""What the tables of README and documentation promise works; the rest is refused."""

import io
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from partwise import (
    BayesianNetworkClassifier,
    ConstituencyParser,
    DependencyParser,
    GraphLabeler,
    HiddenMarkovModel,
    LatticeInput,
    LatticeRanker,
    MulticlassClassifier,
    SegmentTagger,
    SequenceTagger,
)
from partwise.data import Sentence, read_brackets
from partwise.errors import PartwiseError
from partwise.solvers.automatic import BATCH, L1_OF_LOG, SHRINKING, SMALLEST
from partwise.solvers.names import MINIMISERS, MISTAKE_DRIVEN
from partwise.solvers.registry import DEFAULTS, all_solvers, make_solver
from places import ROOT
from problems import plain_only
from tables import Row, codes, find_table, words

README = ROOT / "README.md"
SOLVERS_PAGE = ROOT / "docs" / "guide" / "solvers.md"
THREADS_PAGE = ROOT / "docs" / "guide" / "threads.md"

LOSS_WORDS = {
    "squared hinge": "squared_hinge",
    "log loss": "log_loss",
    "hinge": "hinge",
    "likelihood": "likelihood",
}
PENALTY_WORDS = {
    "L2": "l2",
    "L1": "l1",
    "elastic net": "elasticnet",
    "divergence": "divergence",
    "reverse divergence": "reverse divergence",
    "none": "none",
}


# --- tiny data for every row ---


def tag(**settings: Any) -> Any:
    X = [[{"a": 1.0}, {"b": 1.0}], [{"b": 1.0}, {"a": 1.0}]]
    return SequenceTagger(**settings).fit(X, [["x", "y"], ["y", "y"]])


def classify(**settings: Any) -> Any:
    return MulticlassClassifier(**settings).fit([[1.0], [-1.0], [0.5]], [0, 1, 1])


def cut(**settings: Any) -> Any:
    return SegmentTagger(**settings).fit([[["a"], ["b"]]], [[(0, 1, "x")]])


def label_graph(**settings: Any) -> Any:
    import networkx

    graph = networkx.path_graph(2)
    graph.nodes[0]["depth"] = 1.5
    return GraphLabeler(**settings).fit([graph], [["sea", "land"]])


def label_relaxed(**settings: Any) -> Any:
    return label_graph(decoder="relaxed", **settings)


def rank(**settings: Any) -> Any:
    edges = [(0, 1, {"lm": -1.0}), (0, 1, {"lm": -9.0}), (1, 2, {"word": "house"})]
    return LatticeRanker(**settings).fit([LatticeInput(edges)], [[0, 2]])


def parse(**settings: Any) -> Any:
    sentence = Sentence.from_columns(
        forms=["dogs", "bark"], upos=["NOUN", "VERB"], heads=[2, 0]
    )
    parser = DependencyParser(labelled=False, hash_bits=8, **settings)
    return parser.fit([sentence])


def parse_phrases(**settings: Any) -> Any:
    trees = read_brackets(io.StringIO("(S (NP (N dogs)) (VP (V bark)))"))
    return ConstituencyParser(hash_bits=8, **settings).fit(trees)


def fit_network(**settings: Any) -> Any:
    rows = [{"rain": "yes", "grass": "wet"}, {"rain": "no", "grass": "dry"}]
    model = BayesianNetworkClassifier([("rain", "grass")], target="rain", **settings)
    return model.fit(rows)


def fit_markov(**settings: Any) -> Any:
    return HiddenMarkovModel(**settings).fit([["walk", "shop"]], [["sun", "rain"]])


FIT: dict[str, Callable[..., Any]] = {
    "chain": tag,
    "segments": cut,
    "multiclass": classify,
    "graphs of any shape": label_graph,
    "graphs too wide": label_relaxed,
    "lattices": rank,
    "dependency trees": parse,
    "constituency trees": parse_phrases,
    "Bayesian networks": fit_network,
    "hidden Markov models": fit_markov,
}


# --- what the tables say ---


class Goal(NamedTuple):
    """A loss with a penalty, and who minimises it."""

    loss: str
    penalty: str
    solvers: tuple[str, ...]


def goals() -> list[Goal]:
    """Return the rows of the table of losses, one for each loss and penalty."""
    found = []
    for row in find_table(README, "loss", "penalties", "solvers, the default first"):
        solvers = tuple(codes(row["solvers, the default first"]))
        for penalty in words(row["penalties"], PENALTY_WORDS):
            for loss in codes(row["loss"]) or ["none"]:
                found.append(Goal(loss, penalty, solvers))
    return found


GOALS = goals()
STRUCTURES = find_table(README, "structure", "estimator", "losses", "solvers")


def losses_of(row: Row) -> list[str]:
    return list(words(row["losses"], LOSS_WORDS))


def accepts(row: Row, solver: str) -> bool:
    """Say whether the cell of a structure's solvers includes one."""
    cell = row["solvers"].partition(" (")[0]
    listed, _, added = cell.partition(";")
    most, _, left_out = listed.partition(" except ")
    if solver in codes(added):
        return True
    if most == "all below":
        return solver not in codes(left_out)
    if most.startswith("those for these losses"):
        minimised = {s for g in GOALS if g.loss in losses_of(row) for s in g.solvers}
        return solver in minimised and solver not in codes(left_out)
    assert codes(most), cell
    return solver in codes(most)


def is_generative(row: Row) -> bool:
    return "likelihood" in losses_of(row)


def promised(row: Row) -> set[tuple[str, str, str]]:
    """Return the triples of loss, penalty and solver that a row promises."""
    found = set()
    for loss, penalty, solvers in GOALS:
        for own in losses_of(row) if loss == "none" else [loss]:
            fits = own in losses_of(row) and own != "likelihood"
            kind = "divergence" if is_generative(row) else "l2"
            named = kind if penalty == "none" else penalty
            if fits and named.endswith("divergence") == is_generative(row):
                found |= {(own, named, s) for s in solvers if accepts(row, s)}
    _, _, but = row["solvers"].partition(" (hinge with L1: not ")
    return found - {("hinge", "l1", solver) for solver in codes(but)}


# --- trying it ---


@plain_only
@pytest.mark.parametrize("row", STRUCTURES, ids=lambda row: row["structure"][:20])
def test_tables_promise_what_works_and_exclude_what_does_not(row: Row) -> None:
    fit = next(f for name, f in FIT.items() if row["structure"].startswith(name))
    wanted = promised(row)
    assert wanted
    losses = ["squared_hinge", "hinge", "log_loss"]
    penalties = ["l2", "l1", "elasticnet"]
    if is_generative(row):
        penalties = ["divergence", "reverse divergence"]
    wrong = []
    for loss in losses:
        for penalty in penalties:
            for solver in all_solvers():
                settings = {"loss": loss, "solver": solver, "max_iter": 1}
                if penalty == "reverse divergence":
                    settings["divergence"] = "reverse"
                elif penalty not in ("divergence", "l2"):
                    settings["penalty"] = penalty
                problem = refusal(fit, settings)
                if (loss, penalty, solver) in wanted:
                    if problem:
                        wrong.append((loss, penalty, solver, problem))
                elif not problem:
                    wrong.append((loss, penalty, solver, "is not refused"))
                elif not explains(problem, settings):
                    wrong.append((loss, penalty, solver, f"no reason: {problem}"))
    assert wrong == []


def refusal(fit: Callable[..., Any], settings: dict[str, Any]) -> str:
    """Return why training is refused; nothing if it works."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of one pass, nobody expects convergence
        try:
            fit(**settings)
        except (PartwiseError, ValueError) as error:
            return str(error)
    return ""


def explains(problem: str, settings: dict[str, Any]) -> bool:
    """Say whether a message names what does not go together, and what to do."""
    names = [str(value) for value in settings.values()]
    # Relaxed decoding has no sums: that is said before any solver is looked at.
    return any(name in problem for name in [*names, "relaxed"]) and (
        "use " in problem or "choose " in problem or "must be " in problem
    )


def test_tables_of_losses_list_all_solvers() -> None:
    listed = {(g.loss, g.penalty): set(g.solvers) for g in GOALS if g.loss != "none"}
    known = {
        pair: set(names)
        for pair, names in MINIMISERS.items()
        if pair[0] != "set_hinge" and not pair[1].startswith("positive")
    }
    assert listed == known
    (last,) = [g for g in GOALS if g.loss == "none"]
    assert set(last.solvers) == set(MISTAKE_DRIVEN)
    for goal in GOALS:
        if goal.loss != "none":
            assert goal.solvers[0] == DEFAULTS[goal.loss, goal.penalty]


def test_tables_of_the_solvers_page_name_solvers_for_their_losses() -> None:
    rows = find_table(SOLVERS_PAGE, "loss", "`solver=`", "class")
    seen = set()
    above = ""
    for row in rows:
        names = codes(row["`solver=`"])
        classes = codes(row["class"]) or [above]
        above = classes[0]
        losses = codes(row["loss"]) if "all three" not in row["loss"] else [
            "squared_hinge", "hinge", "log_loss",
        ]  # fmt: skip
        for name in names:
            solver = make_solver(name)
            assert type(solver).__name__ in classes, name
            assert {x for x in losses if x not in ("l1", "l2")} <= {*solver.losses}
            seen.add(name)
    variants = {name for name in all_solvers() if name.startswith("column-generation-")}
    variants |= {"simplicial-coordinate", "simplicial-online", *MISTAKE_DRIVEN}
    assert seen | variants == set(all_solvers())


def test_tables_of_what_auto_picks_are_those_of_the_code() -> None:
    rows = find_table(SOLVERS_PAGE, "loss", "penalty", "starts with", "or with")
    listed = {}
    for row in rows:
        penalties = codes(row["penalty"]) or list(words(row["penalty"], PENALTY_WORDS))
        for loss in codes(row["loss"]):
            for penalty in penalties:
                listed[loss, penalty] = codes(row["starts with"]), codes(row["or with"])
    assert {pair: names[0] for pair, (names, _) in listed.items()} == {
        pair: name
        for pair, name in DEFAULTS.items()
        if pair[0] != "set_hinge" and not pair[1].startswith("positive")
    }
    for (loss, penalty), (_, others) in listed.items():
        expected = []
        if penalty == "l2":
            expected = [n for n in (BATCH[loss].before, BATCH[loss].solver) if n]
        if penalty == "elasticnet":
            stand_in = {"log_loss": SHRINKING["lbfgs"], "hinge": SMALLEST["hinge"]}
            expected = [stand_in[loss]] if loss in stand_in else []
        if (loss, penalty) == L1_OF_LOG:
            expected = [SHRINKING["lbfgs"]]
        assert others[: max(1, len(expected))] == expected


def test_table_of_threads_lists_every_solver_once() -> None:
    rows = find_table(THREADS_PAGE, "work", "shared")
    named = [n for row in rows for n in codes(row["work"]) if n in all_solvers()]
    assert len(named) == len(set(named))
    variants = {"dcd", "simplicial-coordinate", "simplicial-online"}
    variants |= {
        name for name in all_solvers() if name.startswith("column-generation-")
    }
    assert {*named} | variants == set(all_solvers())
