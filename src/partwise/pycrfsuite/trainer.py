"""The trainer: a data set, an algorithm with its parameters, and a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from partwise._jit import working_time
from partwise.data.files import replace_file
from partwise.foreign import ChainModel, make_chain_model, write_crfsuite_model
from partwise.foreign.chain_model import without_zeros
from partwise.pycrfsuite import training
from partwise.pycrfsuite._logparser import TrainLogParser
from partwise.pycrfsuite.corpus import Corpus
from partwise.pycrfsuite.evaluation import evaluation_lines
from partwise.pycrfsuite.generation import Features, generate_features, make_structure
from partwise.pycrfsuite.items import as_text
from partwise.pycrfsuite.parameters import ALGORITHMS, Parameters
from partwise.pycrfsuite.training import Iteration
from partwise.structures.chain import Chain
from partwise.structures.interface import FloatArray

TITLES = {
    "lbfgs": "L-BFGS optimization",
    "l2sgd": "Stochastic Gradient Descent (SGD)",
    "averaged-perceptron": "Averaged perceptron",
    "passive-aggressive": "Passive Aggressive",
    "arow": "Adaptive Regularization of Weights (AROW)",
}
LOGGED_AS = {
    "c1": "c1",
    "c2": "c2",
    "num_memories": "num_memories",
    "max_iterations": "max_iterations",
    "epsilon": "epsilon",
    "period": "stop",
    "delta": "delta",
    "linesearch": "linesearch",
    "max_linesearch": "linesearch.max_iterations",
}
"""What the log calls the parameters of `lbfgs`, in the order it lists them."""
N_OF_FEATURES = 3  # parameters of the generation of features come first
NOTHING_TO_TRAIN = -1020  # what libLBFGS says of a problem without variables


def _flag(text: str) -> bool:
    return bool(int(text))


class BaseTrainer:
    """A trainer that prints its log as it comes.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        The algorithm; see `select`.
    params : dict, optional
        Parameters to `set`.
    verbose : bool
        Whether to print the log.
    """

    _PARAMETER_TYPES: ClassVar[dict[str, Callable[[str], Any]]] = {
        "feature.minfreq": float,
        "feature.possible_states": _flag,
        "feature.possible_transitions": _flag,
        "c1": float,
        "c2": float,
        "max_iterations": int,
        "num_memories": int,
        "epsilon": float,
        "period": int,
        "delta": float,
        "linesearch": str,
        "max_linesearch": int,
        "calibration.eta": float,
        "calibration.rate": float,
        "calibration.samples": float,
        "calibration.candidates": int,
        "calibration.max_trials": int,
        "type": int,
        "c": float,
        "error_sensitive": _flag,
        "averaging": _flag,
        "variance": float,
        "gamma": float,
    }
    _ALGORITHM_ALIASES: ClassVar[dict[str, str]] = {
        "ap": "averaged-perceptron",
        "pa": "passive-aggressive",
    }

    verbose: Any
    _corpus: Corpus
    _parameters: Parameters

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make the data set, also for subclasses that forget to."""
        self = super().__new__(cls)
        self._corpus = Corpus()
        self._parameters = Parameters("lbfgs")
        self.verbose = None
        return self

    def __init__(
        self,
        algorithm: str | None = None,
        params: dict[str, Any] | None = None,
        verbose: bool = True,
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        if params is not None:
            self.set_params(params)
        self.verbose = verbose

    def message(self, message: str) -> None:
        """Take a message of the training process; print it if `verbose`."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Any, yseq: Any, group: int = 0) -> None:
        """Add a sequence to the data set.

        Parameters
        ----------
        xseq : iterable of items, or ItemSequence
            The features of every token.
        yseq : iterable of str
            The label of every token.
        group : int
            The group of the sequence, for `train` with `holdout`.
        """
        try:
            number = int(group)
        except (TypeError, ValueError):
            raise TypeError("an integer is required") from None
        self._corpus.append(xseq, yseq, number)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose the algorithm; its parameters get their defaults.

        Parameters
        ----------
        algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}
            The log loss with L1 and L2 norms, with the L2 norm, the averaged
            perceptron, passive-aggressive updates, AROW.
        type : {"crf1d"}
            The kind of model.
        """
        name = algorithm.lower()
        name = self._ALGORITHM_ALIASES.get(name, name)
        if name not in ALGORITHMS or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={name!r}, type={type!r}")
        self._parameters = Parameters(name)

    def params(self) -> list[str]:
        """Return the names of the parameters of the algorithm."""
        return self._parameters.names()

    def set_params(self, params: dict[str, Any]) -> None:
        """Set several parameters."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Return all parameters and their values."""
        return {name: self.get(name) for name in self.params()}

    def set(self, name: str, value: Any) -> None:
        """Set a parameter."""
        text = str(int(value)) if isinstance(value, bool) else str(value)
        self._parameters.set(name, text)

    def get(self, name: str) -> Any:
        """Return the value of a parameter."""
        return self._cast_parameter(name, self._parameters.get(name))

    def help(self, name: str) -> str:
        """Return the description of a parameter."""
        return self._parameters.help(name)

    def clear(self) -> None:
        """Remove all sequences from the data set."""
        self._corpus.clear()

    def _cast_parameter(self, name: str, value: str) -> Any:
        return self._PARAMETER_TYPES.get(name, str)(value)

    def _before_train(self) -> None:
        """Prepare for a new log."""

    def train(self, model: Any, holdout: int = -1) -> None:
        """Train on the data set, and write the model.

        Parameters
        ----------
        model : str or path
            The file to write; none if it is empty.
        holdout : int
            The group that is not trained on but evaluated after every iteration; all
            sequences are trained on if it is -1.
        """
        self._before_train()
        path = str(model) if isinstance(model, Path) else as_text(model)
        if holdout >= 0:
            self._say(f"Holdout group: {holdout + 1}\n", "\n")
        features, chain = self._generate(holdout)
        held = None
        if holdout >= 0:
            held = make_structure(self._corpus.tokens(holdout, only=True), features)
        w = self._optimise(features, chain, held)
        if path:
            self._store(path, features, w)

    def _say(self, *lines: str) -> None:
        for line in lines:
            self.message(line)

    def _generate(self, holdout: int) -> tuple[Features, Chain]:
        p, begin = self._parameters, time.process_time()
        self._say("Feature generation\n", "type: CRF1d\n")
        for name in p.names()[:N_OF_FEATURES]:
            self._say(f"{name}: {p.get(name)}\n")
        tokens = self._corpus.tokens(holdout)
        features = generate_features(tokens, len(self._corpus.labels), p)
        for percent in range(0, 101, 2):
            self._say(str(percent // 10) if percent % 10 == 0 else ".")
        self._say("\n", f"Number of features: {features.n_weights}\n")
        self._say(f"Seconds required: {time.process_time() - begin:.3f}\n", "\n")
        return features, make_structure(tokens, features)

    def _optimise(
        self, features: Features, chain: Chain, held: Chain | None
    ) -> FloatArray:
        p, begin = self._parameters, working_time()
        self._say(TITLES[p.algorithm] + "\n")
        own = {name: name for name in p.names()[N_OF_FEATURES:]}
        for name, called in (LOGGED_AS if p.algorithm == "lbfgs" else own).items():
            self._say(f"{called}: {p.get(name)}\n")
        self._say("\n")
        labels = list(self._corpus.labels)
        w = np.zeros(chain.layout.n_weights)
        if features.n_weights and chain.ptr.size > 1:
            outcome = training.train(
                training.make_plan(chain, p),
                lambda iteration: self._report(iteration, held, labels),
            )
            w = outcome.w
            self._say(_ending(p.algorithm, outcome.converged))
        elif p.algorithm == "lbfgs":
            self._say(f"L-BFGS terminated with error code ({NOTHING_TO_TRAIN})\n")
        seconds = working_time() - begin
        self._say(f"Total seconds required for training: {seconds:.3f}\n", "\n")
        return w

    def _report(
        self, iteration: Iteration, held: Chain | None, labels: list[str]
    ) -> None:
        """Write what the log says after an iteration."""
        algorithm, w = self._parameters.algorithm, iteration.w
        noun = "Epoch" if algorithm == "l2sgd" else "Iteration"
        self._say(f"***** {noun} #{iteration.number} *****\n")
        self._say(f"Loss: {iteration.loss:f}\n")
        norm = float(np.sqrt(w @ w))
        if algorithm == "l2sgd":
            self._say(f"Feature L2-norm: {norm:f}\n")
        else:
            self._say(f"Feature norm: {norm:f}\n")
        if algorithm == "lbfgs":
            self._say(
                f"Error norm: {iteration.error:f}\n",
                f"Active features: {np.count_nonzero(w)}\n",
                "Line search trials: 1\n",
                "Line search step: 1.000000\n",
            )
        self._say(f"Seconds required for this iteration: {iteration.seconds:.3f}\n")
        if held is not None:
            self._say(*evaluation_lines(held, w, labels))
        self._say("\n")

    def _store(self, path: str, features: Features, w: FloatArray) -> None:
        begin = time.process_time()
        self._say("Storing the model\n")
        model = self._model(features, w)
        active = without_zeros(model)
        n_active = active.weight.size + np.count_nonzero(active.transitions)
        K, A = len(model.labels), len(model.attributes)
        data = write_crfsuite_model(model)
        with replace_file(path, durable=False) as file:
            file.write(data)
        self._say(
            f"Number of active features: {n_active} ({features.n_weights})\n",
            f"Number of active attributes: {len(active.attributes)} ({A})\n",
            f"Number of active labels: {K} ({K})\n",
            "Writing labels\n",
            "Writing attributes\n",
            "Writing feature references for transitions\n",
            "Writing feature references for attributes\n",
            f"Seconds required: {time.process_time() - begin:.3f}\n",
            "\n",
        )

    def _model(self, features: Features, w: FloatArray) -> ChainModel:
        pairs, K = features.pairs, features.pairs.n_labels
        n = pairs.label.size
        return make_chain_model(
            list(self._corpus.labels),
            list(self._corpus.attributes),
            pairs.ptr,
            pairs.label,
            w[:n],
            w[n : n + K * K],
        )


def _ending(algorithm: str, converged: bool) -> str:
    """Return the line that says how training ended."""
    name = {"lbfgs": "L-BFGS", "l2sgd": "SGD"}.get(algorithm)
    if name is None:
        return "Terminated with the stopping criterion\n" if converged else ""
    if not converged:
        return f"{name} terminated with the maximum number of iterations\n"
    if algorithm == "lbfgs":
        return "L-BFGS resulted in convergence\n"
    return "SGD terminated with the stopping criteria\n"


class Trainer(BaseTrainer):
    """A trainer that also reads its log, and hands events on to methods.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "pa", "arow"}, optional
        The algorithm; see `select`.
    params : dict, optional
        Parameters to `set`.
    verbose : bool
        Whether to print the log.

    Attributes
    ----------
    logparser : TrainLogParser or None
        What the log of the last training says.

    Examples
    --------
    >>> import tempfile
    >>> trainer = Trainer("ap", {"max_iterations": 5}, verbose=False)
    >>> trainer.append([["walk"], ["shop"]], ["sunny", "rainy"])
    >>> path = f"{tempfile.mkdtemp()}/weather.crfsuite"
    >>> trainer.train(path)
    >>> from partwise.pycrfsuite import Tagger
    >>> with Tagger().open(path) as tagger:
    ...     tagger.tag([["shop"], ["walk"]])
    ['rainy', 'sunny']
    """

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Take a message of the training process, and call the method of its event."""
        parser = self.logparser
        if parser is None:
            parser = self.logparser = TrainLogParser()
        event = parser.feed(message)
        if not self.verbose or event is None:
            return
        log = parser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, parser.featgen_percent)
        elif event == "iteration":
            self.on_iteration(log, parser.last_iteration)
        else:
            getattr(self, f"on_{event}")(log)

    def _print_log(self, log: str) -> None:
        """Print the part of the log that an event ends."""
        print(log, end="")

    on_start = on_featgen_end = on_prepared = on_prepare_error = _print_log
    on_optimization_end = on_end = _print_log

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Handle progress of the generation of features."""
        self._print_log(log)

    def on_iteration(self, log: str, info: Any) -> None:
        """Handle the end of an iteration; `info` is what the log says of it."""
        self._print_log(log)
