"""How a hidden Markov model is trained: by counting, for margins, or by a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partwise._jit import working_time
from partwise.errors import DataError
from partwise.estimators.checks import as_pair, check_labelled, label_lists
from partwise.estimators.costs import cost_matrix
from partwise.estimators.generative.model import GenerativeModel
from partwise.estimators.generative.reference_distributions import (
    REFERENCES,
    check_probabilities,
)
from partwise.estimators.generative.suitable_weights import suitable_Cs
from partwise.estimators.hidden_markov import choice
from partwise.estimators.hidden_markov.choice import Candidate, Trial
from partwise.estimators.hidden_markov.settings import HiddenMarkovSettings
from partwise.estimators.hidden_markov.symbol_sequences import (
    SymbolSequences,
    encode_hidden,
    encode_labelled,
)
from partwise.estimators.hidden_markov.symbols import sorted_symbols, symbol_lists
from partwise.estimators.labels import LabelCodes, class_array, sorted_classes
from partwise.losses import get_loss
from partwise.solvers import make_problem, solve
from partwise.solvers.base import State
from partwise.solvers.endings import INTERRUPTED
from partwise.solvers.loop import Evaluate, Solution
from partwise.solvers.progress import ProgressBar
from partwise.structures import interface as waist
from partwise.structures.chain import Chain
from partwise.structures.decoding import decode
from partwise.structures.hidden_markov import to_weights, with_unknown
from partwise.structures.interface import CodeArray, FloatArray

CHOICE_TOL = 1e-2
"""Candidates are compared when they are this near to their optimum."""


class HiddenMarkovTraining(GenerativeModel, HiddenMarkovSettings):
    """The part of `HiddenMarkovModel` that trains."""

    symbols_: NDArray[Any]
    candidates_: tuple[Candidate, ...]
    _symbols: LabelCodes
    _costs: FloatArray
    _chosen: Candidate | None = None

    def _effective_C(self) -> float:
        if self._chosen is not None and self._chosen.C is not None:
            return self._chosen.C
        return super()._effective_C()

    # --- from sequences to training data ----------------------------------------------

    def _read(
        self, X: Any, y: Any, sample_weight: Any, hidden: Any = None
    ) -> tuple[SymbolSequences, FloatArray | None]:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        self._chosen, self.candidates_ = None, ()
        ptr, flat = symbol_lists(X, int(self.column))
        y = label_lists(y)
        check_labelled(ptr, y)
        states = [label for labels in y for label in labels]
        self._set_labels(LabelCodes(sorted_classes(states)))
        self._symbols = LabelCodes(sorted_symbols(flat))
        if len(self._labels) < 2:
            raise DataError(
                f"all positions have the state {self._labels.classes[0]!r}: nothing to "
                "learn; give examples of at least two states"
            )
        self.symbols_ = class_array(self._symbols.classes)
        self._costs = cost_matrix(self.costs, self._labels)
        if not self._costs.any():
            raise DataError("every mistake costs nothing: nothing to learn from")
        if self.reference is not None and not isinstance(self.reference, str):
            check_probabilities(self.reference, len(self._labels), len(self._symbols))
        data = SymbolSequences(
            ptr,
            self._symbols.encode(flat, "X"),
            self._labels.encode(states, "y"),
            encode_hidden(hidden, ptr),
        )
        weight = self._weights_of(sample_weight, len(y))
        self._suitable_C = self._suitable_Cs(data)[0]
        return data, weight

    def _suitable_Cs(self, data: SymbolSequences) -> list[float]:
        power = 2 if self.loss == "squared_hinge" else 1
        worst = data.worst_loss(self._costs, power)
        return suitable_Cs(2 * len(self._labels) + 1, worst)

    def _encode_dev(self, X: Any, y: Any) -> SymbolSequences:
        return encode_labelled(X, y, int(self.column), self._symbols, self._labels)

    def _corpus(self, data: SymbolSequences) -> Chain:
        """Return the structure to train on."""
        return data.chain(len(self._labels), len(self._symbols), self._costs)

    def _own_reference(self) -> FloatArray:
        K, V = len(self._labels), len(self._symbols)
        return to_weights(check_probabilities(self.reference, K, V))

    # --- training ---------------------------------------------------------------------

    @property
    def objective_(self) -> str:
        """What was trained for: "margin" or "likelihood"."""
        return self.objective if self._chosen is None else self._chosen.objective

    @property
    def reference_(self) -> str | None:
        """What margins were traded for: "likelihood", "uniform" or "own"."""
        if self.objective_ == "likelihood":
            return None
        return self._own_name() if self._chosen is None else self._chosen.reference

    def _evaluator(self, X: Any, y: Any) -> Evaluate:
        """Make the function that scores weights by what they cost on other data."""
        dev = self._encode_dev(X, y)

        def evaluate(w: FloatArray) -> float:
            costs = dev.costs_of(self._decode(dev, w), self._costs)
            return 0.0 - float(costs.sum()) / dev.symbols.size

        return evaluate

    def _decode(self, sequences: SymbolSequences, w: FloatArray) -> CodeArray:
        """Return the best states under weights without one for unknown symbols."""
        K, V = len(self._labels), len(self._symbols)
        chain = sequences.chain(K, V + 1)
        return decode(chain, with_unknown(w, K, V), self._jobs()).codes

    # --- choosing ---------------------------------------------------------------------

    def _choose(
        self, data: SymbolSequences, weight: FloatArray | None, dev: Any
    ) -> None:
        """Compare all candidates on held-out sequences; remember the best one."""
        held_out = None if dev is None else self._encode_dev(*as_pair(dev))
        if self.reference is not None:
            references = [self._own_name()]
        else:
            references = list(REFERENCES if self.smoothing > 0 else REFERENCES[1:])
        Cs = self._suitable_Cs(data) if self.C is None else [float(self.C)]
        trials = choice.make_trials(data, weight, held_out, int(self.cv), self._seed())
        limit = self.time_limit
        end = np.inf if limit is None else working_time() + limit

        def costs_of(trial: Trial, candidates: Sequence[Candidate]) -> list[FloatArray]:
            return self._costs_of(trial, candidates, end)

        self.candidates_ = tuple(
            choice.compare(choice.make_candidates(references, Cs), trials, costs_of)
        )
        self._chosen = choice.choose(self.candidates_)

    def _costs_of(
        self, trial: Trial, candidates: Sequence[Candidate], end: float
    ) -> list[FloatArray]:
        """Train every candidate; return what mistakes cost, for sequences held out."""
        chain = self._corpus(trial.train)
        result: list[FloatArray] = []
        before: State | None = None
        for candidate in candidates:
            if candidate.objective == "likelihood":
                counts = self._make_reference("likelihood", chain, trial.weight)
                w = np.log(np.maximum(counts, waist.LEAST_PROBABILITY))
            elif working_time() >= end:
                break
            else:
                assert candidate.reference is not None
                assert candidate.C is not None
                if candidate.reference != candidates[len(result) - 1].reference:
                    before = None
                c = self._make_reference(candidate.reference, chain, trial.weight)
                solution = self._try(chain, candidate.C, trial.weight, c, before, end)
                w, before = solution.w, solution.state
            found = self._decode(trial.dev, w)
            result.append(trial.dev.costs_of(found, self._costs))
        return result

    def _try(
        self,
        chain: Chain,
        C: float,
        weight: FloatArray | None,
        reference: FloatArray,
        previous: State | None,
        end: float,
    ) -> Solution:
        problem = make_problem(
            self._rescaled(chain),
            get_loss(self.loss),
            C,
            weight,
            n_jobs=self._jobs(),
            reference=reference,
            divergence=self.divergence,
        )
        left, tol = max(end - working_time(), 1e-3), max(self.tol, CHOICE_TOL)
        solution = solve(
            problem,
            self._choose_solver(problem).solver,
            tol=tol,
            max_iter=self.max_iter,
            random_state=self._seed(),
            previous=previous,
            time_limit=None if end == np.inf else left,
            callbacks=[ProgressBar(tol, f"C={C:g}")] if self.verbose else [],
        )
        if solution.reason == INTERRUPTED:
            raise KeyboardInterrupt
        return solution
