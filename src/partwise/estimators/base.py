"""What all estimators share: settings, training, certificate, saving."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from partwise import model_file
from partwise._interrupts import Interruptible
from partwise._screen import progress_notes
from partwise._threads import check_jobs
from partwise.errors import DataError
from partwise.estimators.calibration import Calibration
from partwise.estimators.carrying import Blocks, carry_over
from partwise.estimators.labels import (
    Label,
    LabelCodes,
    class_array,
    sorted_classes,
)
from partwise.estimators.learning_on import NOTHING_KEPT, Seen, as_seen
from partwise.estimators.persistence import save_model
from partwise.estimators.protocol import Estimator, warn_of_convergence
from partwise.estimators.reporting import Reporting
from partwise.estimators.settings import check_settings, document
from partwise.estimators.shared_settings import TrainingSettings
from partwise.estimators.snapshot import of_one_model
from partwise.losses import Certificate, Loss, SetHinge, get_loss
from partwise.solvers import Solver, solve
from partwise.solvers.automatic import Choice, choose_solver, name_of
from partwise.solvers.base import (
    STALLED,
    Problem,
    State,
    make_problem,
    penalty_name,
    structure_fingerprint,
)
from partwise.solvers.convex_concave import ConvexConcave, as_partial_problem
from partwise.solvers.endings import FAILED, INTERRUPTED, MAX_ITER
from partwise.solvers.loop import Evaluate, Solution
from partwise.solvers.names import either, solver_names
from partwise.solvers.pairing import check_objective
from partwise.solvers.penalty import vector_of
from partwise.solvers.progress import ProgressBar
from partwise.solvers.registry import default_solver, make_solver
from partwise.solvers.trace import Trace
from partwise.structures import (
    SlackRescaling,
    make_slack_rescaling,
    make_softmax_margin,
)
from partwise.structures.interface import FloatArray, Structure, n_good
from partwise.structures.partial import find_partial

# Ends of training that users should be warned about.
UNFINISHED = (MAX_ITER, INTERRUPTED, FAILED, STALLED)


@dataclass(frozen=True)
class TrainingData:
    """Everything that training needs, encoded and checked.

    Attributes
    ----------
    structure : structure
        The corpus, with gold outputs and costs.
    sample_weight : array or None
        The weight of every example.
    evaluate : callable or None
        Scores weights on development data.
    reference : array or None
        The reference distributions of a generative model.
    kept : sequence of int or None
        The numbers of the examples that are left, where some were left out.
    calibrate : callable or None
        Returns what development data says about the probabilities of weights.
    on_disk : int
        How many bytes of the corpus are read from files as they are needed.
    within : callable
        Returns a context to train in.
    """

    structure: Structure
    sample_weight: FloatArray | None = None
    evaluate: Evaluate | None = None
    reference: FloatArray | None = None
    kept: Sequence[int] | None = None
    calibrate: Callable[[FloatArray], Calibration] | None = None
    on_disk: int = 0
    within: Callable[[], AbstractContextManager[None]] = nullcontext


class StructuredEstimator(Reporting, Estimator, TrainingSettings):
    """Base class: everything about training that does not depend on the structure.

    Attributes
    ----------
    weights_ : array
        All the weights.
    solution_ : Solution
        Everything that training found, and how it ended. Its `state` is kept only with
        `warm_start`.
    certificate_ : Certificate or None
        Objective, lower bound and relative gap; None if no objective was minimised.
    trace_ : Trace
        One row per pass.
    status_ : str
        How training ended, in a sentence.
    n_iter_ : int
        The number of passes.
    C_ : float
        The `C` that was used.
    solver_ : Solver
        The solver that was used.
    bound_ : float or None
        For the hinge with penalty "l1", margin "unit" and `positive` weights: the bound
        of `generalization_bound` on the error on new data, with probability 0.95. None
        for all others, for which nothing is proved.
    """

    default_C: ClassVar[dict[str, float]]
    """What ``C=None`` means, by loss."""
    least_labels: ClassVar[int] = 2
    """How few labels a saved model may have."""

    loss: str
    C: float | None
    solver: str | Solver
    # Their values where they are not settings.
    penalty: str = "l2"
    l1_ratio: float = 0.0
    margin: str = "cost"
    rescaling: str = "margin"
    divergence: str = "forward"
    positive: bool = False
    compare: str = "worst"
    distance: str = "codes"

    solution_: Solution
    classes_: Any
    weights_: FloatArray
    certificate_: Certificate | None
    trace_: Trace
    status_: str
    n_iter_: int
    solver_: Solver
    C_: float
    bound_: float | None
    _calibration: Calibration | None = None
    _labels: LabelCodes
    _reason: str
    _mark: str
    _seen: Seen | None = None
    _continues: bool = False  # whether these examples begin with those of before
    _start: Any = None  # the model whose weights are kept, not its examples
    _announced: tuple[Label, ...] = ()  # labels that may come in later examples
    _space: Any = None
    _noise: float = 0.0
    """How random the first weights are, where labels are known in part."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Document the settings; let predictions be those of one fit."""
        super().__init_subclass__(**options)
        if cls.__doc__ and "Attributes\n" in cls.__doc__:
            cls.__doc__ = document(cls.__doc__, cls, StructuredEstimator.__doc__ or "")
        for name, method in list(vars(cls).items()):
            if name.startswith("predict") and callable(method):
                setattr(cls, name, of_one_model(method))

    def _check_settings(self) -> None:
        """Check everything that can be checked before looking at the data."""
        check_settings(self)
        if self.checkpoint is not None:
            model_file.check_writable(self.checkpoint)
        elif self.resume:
            raise ValueError("resume=True needs a checkpoint to resume from")
        loss = self._loss_name()
        penalty = self._penalty_name()
        if self.n_jobs is not None:
            check_jobs(self.n_jobs)
        if self.solver == "auto":
            default_solver(loss, penalty)
        else:
            check_objective(make_solver(self.solver), loss, penalty)
        if self.rescaling == "slack":
            self._check_rescaling()

    def _check_rescaling(self) -> None:
        """Check that loss, penalty and solver can do with rescaled slacks."""
        if self._chosen_loss() == "log_loss" or self.penalty != "l2":
            raise ValueError(
                "rescaling='slack' is for loss='hinge' or loss='squared_hinge' with "
                "penalty='l2'; leave it out, or choose these"
            )
        if self.solver == "auto":
            return
        solver = make_solver(self.solver)
        able = [
            name
            for name in solver_names(self._chosen_loss(), self._penalty_name())
            if _can_rescale(make_solver(name))
        ]
        if not _can_rescale(solver):
            raise ValueError(
                f"rescaling='slack' is not for solver {name_of(solver)!r}; use "
                f"{either(able)}, or solver='auto'"
            )

    def _loss_name(self) -> str:
        """Check the settings of linear programs; return what solvers call the loss."""
        loss = self._chosen_loss()
        is_program = loss == "hinge" and self._l1_share() == 1.0
        plain = (("margin", "cost"), ("positive", False), ("compare", "worst"))
        for name, default in plain:
            value: Any = getattr(self, name)
            if value != default and not is_program:
                raise ValueError(
                    f"{name}={value!r} is for loss='hinge' with penalty='l1'; leave it "
                    "out, or choose these"
                )
        return SetHinge.name if self.margin == "unit" else loss

    def _make_loss(self, structure: Structure) -> Loss:
        """Return the loss; that of sets where examples have several good outputs."""
        sets = n_good.changed_by(type(structure)) and self._l1_share() == 1.0
        if self._chosen_loss() == "hinge" and (self.margin == "unit" or sets):
            return SetHinge(self.margin, self.compare, self.distance)
        return get_loss(self._chosen_loss())

    def _effective_C(self) -> float:
        """Return `C`, or the one that suits the loss."""
        return float(self.default_C[self._chosen_loss()] if self.C is None else self.C)

    def _chosen_loss(self) -> str:
        """Return the loss that is minimised."""
        return self.loss

    def _jobs(self) -> int:
        """Return `n_jobs`, which may have been set after fitting."""
        if self.n_jobs is None:
            return 1
        check_jobs(self.n_jobs)
        return int(self.n_jobs)

    def _penalty_name(self) -> str:
        """Return what solvers call the penalty."""
        return penalty_name(self._l1_share(), bool(self.positive))

    def _l1_share(self) -> float:
        """Return the share of the L1 norm in the penalty."""
        shares = {"l2": 0.0, "l1": 1.0, "elasticnet": float(self.l1_ratio)}
        return shares[self.penalty]

    def _with_costs(self, structure: Structure, wanted: bool) -> Structure:
        """Bring costs into the log loss too, if the user asks for them.

        Otherwise it is the likelihood, which has no costs.
        """
        if wanted and self._chosen_loss() == "log_loss":
            return make_softmax_margin(structure)
        return structure

    def _rescaled(self, structure: Structure) -> Structure:
        """Return the structure to train on, with slacks rescaled if wanted."""
        if self.rescaling != "slack":
            return structure
        if find_partial(structure) is not None:
            raise ValueError(
                "rescaling='slack' needs complete labels; use rescaling='margin'"
            )
        return make_slack_rescaling(structure)

    def _fit(self, *data: Any, **options: Any) -> Self:
        """Learn from what `fit` is given, on a copy.

        If that fails, the earlier model is unchanged. The warning comes last,
        since a filter may turn it into an exception.
        """
        before, seen = self._seen, None
        if self.warm_start and hasattr(data[0], "__len__"):
            y, sample_weight = (*data[1:], None, None)[:2]
            seen = as_seen(data[0], y, sample_weight, options)

        def learn(fitted: Self) -> None:
            fitted._seen, fitted._start, fitted._announced = seen, None, ()
            fitted._continues = (
                seen is not None and before is not None and seen.begins_with(before)
            )
            fitted._learn(*data, **options)

        return self._fit_by(learn)

    def _fit_by(self, learn: Callable[[Self], object]) -> Self:
        """Let a copy learn; become it if all went well."""
        fitted = copy.copy(self)
        fitted._seen = None
        with Interruptible() as interruptible:
            with interruptible.here():
                with progress_notes() if self.verbose else nullcontext():
                    learn(fitted)
            self.__dict__ = fitted.__dict__
        if is_unfinished(self.solution_, self.solver_):
            warn_of_convergence(self.solution_.status, stacklevel=4)
        return self

    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        classes: Any = None,
        forget: bool = False,
        **options: Any,
    ) -> Self:
        """Learn on, from more examples.

        The examples of all calls are kept, and the model is that of all of them, with a
        certificate as from `fit`; but it is found faster, since the solver goes on from
        what it has. New features and new labels get weights. `fit` forgets all.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; features of the same kind as before.
        classes : sequence of labels, optional
            Labels that are to come, besides those of these examples. scikit-learn wants
            all of them in the first call; here new ones may come at any time, but a
            batch with some that were not announced starts the dual variables anew.
        forget : bool
            Keep only the weights of the examples seen so far, not the examples: what is
            minimised is half the squared distance from those weights, and `C` times the
            losses of the examples of this call and of later ones. Works after `load`,
            too.
        **options
            As in `fit`.

        Examples
        --------
        >>> from partwise import MulticlassClassifier
        >>> model = MulticlassClassifier().partial_fit([[0.0], [1.0]], ["a", "b"])
        >>> model.partial_fit([[2.0]], ["c"]).classes_.tolist()
        ['a', 'b', 'c']
        """
        new = as_seen(X, y, sample_weight, options)
        before, start = self._seen, self._start
        if forget:
            self._check_fitted()
            before, start = None, self._as_start()
        elif before is None and hasattr(self, "solution_"):
            warnings.warn(NOTHING_KEPT, UserWarning, stacklevel=2)
        seen = new if before is None else before.joined(new, type(self).__name__)

        def learn(fitted: Self) -> None:
            fitted._seen, fitted._start = seen, start
            fitted._continues = before is not None
            if classes is not None:
                fitted._announced = (*self._announced, *classes)
            # The state of the solver is kept, though the setting may be off.
            setting, fitted.warm_start = fitted.warm_start, True
            fitted._learn(seen.X, seen.y, seen.sample_weight, **seen.options)
            fitted.warm_start = setting

        return self._fit_by(learn)

    def _as_start(self) -> Self:
        """Return this model to start from: its weights without its examples."""
        start = copy.copy(self)
        start._seen = start._start = None
        start.solution_ = replace(self.solution_, state=None)
        return start

    def _earlier(self, name: str) -> Any:
        """Return an attribute of the model that examples go on from, or None."""
        return getattr(self, name, None) if self._continues else None

    def _all_classes(self, found: Iterable[Label]) -> list[Label]:
        """Return the labels of examples, seen, forgotten and announced, sorted."""
        start = self._start
        known = () if start is None else start._labels.classes
        return sorted_classes([*found, *known, *self._announced])

    def _blocks(self) -> Blocks:
        """Say what the weights belong to, in order."""
        raise NotImplementedError

    def _pull(self) -> FloatArray | None:
        """Return what the weights of examples that are forgotten come to now."""
        start = self._start
        if start is None:
            return None
        w = carry_over(start.weights_, start._blocks(), self._blocks())
        return vector_of(w, self._l1_share())

    def _learn(self, *data: Any, **options: Any) -> None:
        """Learn from what `fit` is given."""
        self._train(self._prepare(*data, **options))

    def _prepare(self, *data: Any, **options: Any) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        raise NotImplementedError(f"{type(self).__name__} learns in its own way")

    def _choose_solver(self, problem: Problem, on_disk: int = 0) -> Choice:
        if self.solver == "auto":
            return choose_solver(problem, on_disk)
        return Choice(make_solver(self.solver), "")

    def _in_convex_steps(self, choice: Choice) -> Choice:
        """Let the solver take the convex steps that partial labels need."""
        if not choice.solver.minimises:
            raise ValueError(
                f"solver {name_of(choice.solver)!r} minimises no objective, and needs "
                "complete labels; for labels that are known in part, and for hidden "
                "states, use solver='auto'"
            )
        return Choice(ConvexConcave(choice.solver, self._noise), choice.reason)

    def _train(
        self, data: TrainingData, previous: State | None = None, title: str = ""
    ) -> Solution:
        """Solve, and keep what follows from the solution.

        `previous` is where training with another C on the same data ended; progress
        begins with the `title`.
        """
        with data.within():
            return self._train_within(data, previous, title)

    def _train_within(
        self, data: TrainingData, previous: State | None, title: str
    ) -> Solution:
        """Solve, and keep what follows from the solution."""
        structure = self._rescaled(data.structure)
        problem = make_problem(
            structure,
            self._make_loss(structure),
            self._effective_C(),
            data.sample_weight,
            self._l1_share(),
            self._jobs(),
            data.reference,
            bool(self.positive),
            self.divergence,
            self._pull(),
        )
        if not problem.C.any():
            raise DataError("every sample weight is zero: nothing to learn from")
        choice = self._choose_solver(problem, data.on_disk)
        if find_partial(structure) is not None:
            choice = self._in_convex_steps(choice)
            problem = as_partial_problem(problem)
        callbacks = list(self.callbacks)
        if self.verbose:
            callbacks.append(ProgressBar(self.tol, title))
        mark, state = "", self.solution_.state if self._goes_on() else None
        if previous is None and state is not None:
            previous = state.unwrapped().grown(problem)
        if previous is None and self.warm_start:
            mark = structure_fingerprint(structure)
            if mark == getattr(self, "_mark", ""):
                previous = self.solution_.state
        solution = solve(
            problem,
            choice.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self._seed(),
            previous=previous,
            evaluate=data.evaluate,
            patience=self.patience,
            checkpoint=self.checkpoint,
            resume=self.resume,
            time_limit=self.time_limit,
            callbacks=callbacks,
        )
        bound = None
        if solution.state is not None:
            bound = choice.solver.error_bound(
                problem, solution.state, solution.w, solution.certificate
            )
        at_work = choice.solver.at_work(solution.state)
        reason, first = choice.reason, choice.solver.at_work(None)
        if at_work is not first:
            reason = f"after {name_of(first)}, {reason}"
        self._keep(solution, at_work, reason, bound)
        self._mark = mark
        self._calibration = data.calibrate(solution.w) if data.calibrate else None
        self._space = self._output_space() if self._seen is not None else None
        return solution

    def _goes_on(self) -> bool:
        """Say whether examples begin with those of before, with the same outputs."""
        return self._continues and self._space == self._output_space()

    def _output_space(self) -> Any:
        """Return what the codes of outputs depend on, besides the example."""
        return tuple(self._labels.classes)

    def _keep(
        self,
        solution: Solution,
        solver: Solver,
        reason: str = "",
        bound: float | None = None,
    ) -> None:
        """Keep a solution, and set all that follows from it.

        `reason` says why this solver was chosen, `bound` bounds the error on new data.
        """
        # Where the solver ended can be much larger than the model.
        self.solution_ = solution if self.warm_start else replace(solution, state=None)
        self.weights_ = solution.w
        self.certificate_ = solution.certificate
        self.trace_ = solution.trace
        self.n_iter_ = len(solution.trace)
        self.status_ = solution.status + _remarks(solution, solver, reason)
        self.solver_ = solver
        self.C_ = self._effective_C()
        self.bound_ = bound
        self._reason, self._mark = reason, ""

    def _set_labels(self, labels: LabelCodes) -> None:
        """Set the labels of outputs."""
        self._labels = labels
        self.classes_ = class_array(labels.classes)

    def _seed(self) -> int:
        """Return an integer seed from any of scikit-learn's ways to give one."""
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        from sklearn.utils import check_random_state

        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_fitted(self) -> None:
        if not hasattr(self, "weights_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit first"
            )

    def predict_single(self, x: Any, **options: Any) -> Any:
        """Return what `predict` returns for one example.

        Examples
        --------
        >>> from partwise import SequenceTagger
        >>> X, y = [[["the"], ["dog"]]], [["D", "N"]]
        >>> SequenceTagger(C=10.0).fit(X, y).predict_single([["the"]])
        ['D']
        """
        return self.predict([x], **options)[0]

    def _store(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the tensors and settings of a model file that are the class's own."""
        raise NotImplementedError(f"{type(self).__name__} has no file format")

    def _fill(self, content: model_file.Content) -> int:
        """Read them, labels being there; return how many weights there must be."""
        raise NotImplementedError(f"{type(self).__name__} has no file format")

    def save(self, path: str | Path, dtype: str = "float64") -> None:
        """Save the model to one file, which `partwise.load` reads back.

        Parameters
        ----------
        path : path
            Where to; written atomically. The usual ending is ``.partwise``.
        dtype : {"float64", "float32"}
            ``"float32"`` halves the weights' size; predictions may change where two
            outputs are closer than its rounding.
        """
        self._check_fitted()
        save_model(self, path, dtype)


def is_unfinished(solution: Solution, solver: Solver) -> bool:
    """Say whether training ended in a way that users should be warned about."""
    # All its passes are all that a solver without an objective can finish.
    finished = solution.reason == MAX_ITER and not solver.minimises
    return solution.reason in UNFINISHED and not finished


def _can_rescale(solver: Solver) -> bool:
    """Say whether a solver minimises losses whose slacks are rescaled."""
    answered = all(question.provided_by(SlackRescaling) for question in solver.needs)
    return solver.minimises and answered


def untrained(w: FloatArray, reason: str, status: str) -> Solution:
    """Return a solution that no solver has found."""
    return Solution(w, None, Trace(), reason, status, None)


def _remarks(solution: Solution, solver: Solver, reason: str) -> str:
    """Return what `status_` says beyond how training ended."""
    # A solution that was loaded has no state; its status says all of this already.
    remarks = "" if solution.state is None else solver.remark(solution.w)
    return remarks + (f" (solver {name_of(solver)}: {reason})" if reason else "")
