"""What all estimators can show: a report in the browser, and suspects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from partwise._screen import WorkNotes
from partwise._work import steps, telling

if TYPE_CHECKING:
    from partwise.estimators.suspicion import Suspects
    from partwise.pages import View
    from partwise.pages.saving import Page

EXPLAINED = 100
"""How many wrong examples of a report say why."""
REASONS = 6
"""How many features a reason names."""
MOST_LABELS, MOST_FEATURES = 40, 8
SUSPECTS = 20
TRACED = ("iteration", "seconds", "primal", "dual", "relative_gap", "dev_score")

Progress = Callable[[str], None]


class Reporting:
    """The part of estimators that shows what they do."""

    _views: Callable[..., list[View]]
    _reasons: Any = None

    def report(
        self,
        X: Any,
        y: Any = None,
        *,
        title: str | None = None,
        train: Any = None,
        path: Any = None,
        on_progress: Progress | None = None,
    ) -> Page:
        """Return a page about the model and what it does with some examples.

        One HTML file, which needs no network: the certificate, the course of training,
        scores by label with intervals, confusions, calibration, the largest weights,
        and all examples, with what is wrong in them and why.

        Parameters
        ----------
        X, y
            Labelled examples, as in `score`.
        title : str, optional
            What the page is called.
        train : training data, optional
            What the model was trained on, to list suspects: ``(X, y)``, or trees or
            lattices that hold their outputs themselves.
        path : Path, optional
            What `C_path` returned, to show it.
        on_progress : callable, optional
            Called with a text that says how far the work is, if it takes longer than a
            second.

        Returns
        -------
        Page
            With a method ``save(path)``; notebooks show it.

        Examples
        --------
        >>> from partwise import SequenceTagger
        >>> X, y = [[["the"], ["dog"]]], [["D", "N"]]
        >>> SequenceTagger(C=10.0).fit(X, y).report(X, y)
        Page(title='SequenceTagger')
        """
        from partwise.estimators.certificates import in_words
        from partwise.pages import report_page
        from partwise.pages.saving import Page

        model: Any = self
        model._check_fitted()
        X = X if hasattr(X, "__len__") or hasattr(X, "shape") else list(X)
        if y is not None and hasattr(model, "_check_scored"):
            model._check_scored(y)
        title = title or type(self).__name__
        told = nullcontext() if on_progress is None else telling(WorkNotes(on_progress))
        with told:
            views = self._explained(X, model._views(X, y))
            shown = None if train is None else self._suspicious(train)
        return Page(
            title,
            report_page(
                views,
                title=title,
                subtitle=_subtitle(model),
                facts=_facts(model),
                certificate=in_words(model.certificate_, model.trace_),
                note=_note(model, views),
                trace={name: model.trace_[name].tolist() for name in TRACED},
                path=[] if path is None else [_point(one) for one in path],
                weights=_largest_weights(model),
                quantity="probabilities" if _is_generative(model) else "weights",
                transitions=_transitions(model),
                suspects=shown,
            ),
        )

    def _suspicious(self, train: Any) -> dict[str, Any]:
        """Return what a report shows of training data: what is suspicious at all."""
        from partwise.pages.contents import suspect_data

        found = self.suspects(*(train if isinstance(train, tuple) else (train,)))
        odd = [one for one in found if one.score > 0.0]
        return suspect_data(
            [one.view for one in odd],
            [one.example + 1 for one in odd],
            [one.score for one in odd],
            found.by,
        )

    def suspects(
        self, X: Any, y: Any = None, *, n: int = SUSPECTS, folds: int | None = None
    ) -> Suspects:
        """Return training examples that the model cannot reconcile with the others.

        They may be annotation mistakes. Suspicion is how improbable the model finds
        the least probable part of the right output, ``-ln p``: one wrong label is
        enough. Where there are no probabilities (relaxed graphs) it is the mass of the
        dual variables on wrong outputs, or the loss; for models that only count, how
        improbable the right output is.

        Parameters
        ----------
        X, y
            What the model was trained on.
        n : int
            How many to return.
        folds : int, optional
            Train so many models anew, each without one part of the examples, and let
            it judge that part. Models with many features, parsers above all, learn
            mistakes by heart: only those that have not seen them find them.

        Returns
        -------
        Suspects
            The most suspicious first; prints as a table.

        Examples
        --------
        >>> from partwise import MulticlassClassifier
        >>> X = [[0.0], [0.1], [0.2], [2.0], [2.1], [0.05]]
        >>> y = ["low", "low", "low", "high", "high", "high"]
        >>> model = MulticlassClassifier("squared_hinge", C=1.0, tol=1e-6)
        >>> print(model.fit(X, y).suspects(X, y, n=1))
         example     score  the data says, the model says
               6    0.9492  x0=0.05: high, low
        """
        from partwise.estimators import suspicion as suspicious

        model: Any = self
        model._check_fitted()
        X = X if hasattr(X, "__len__") or hasattr(X, "shape") else list(X)
        if folds is not None:
            return suspicious.held_out_suspects(model, X, y, folds, n)
        if getattr(model, "objective_", "margin") == "likelihood":
            views = model._views(X, y)
            scores = np.array([view.surprise or 0.0 for view in views])
            found = suspicious.Suspicion(
                scores, scores, list(range(len(views))), suspicious.SURPRISE
            )
        else:
            found = suspicious.find_suspicion(model, X, y)
        # Masses that are equal to the last digit are told apart by the losses.
        order = np.lexsort((-found.losses, -found.scores))[: max(n, 0)]
        numbers = [found.numbers[i] for i in order.tolist()]
        views = model._views(
            suspicious.chosen(X, numbers),
            None if y is None else suspicious.chosen(y, numbers),
        )
        return suspicious.Suspects(
            found.by,
            tuple(
                suspicious.Suspect(i, score, view)
                for i, score, view in zip(
                    numbers, found.scores[order].tolist(), views, strict=True
                )
            ),
        )

    def _explained(self, X: Any, views: list[View]) -> list[View]:
        """Add reasons to the examples with the most mistakes, where models have any."""
        from partwise.estimators.suspicion import chosen

        if self._reasons is None:
            return views
        wrong = [i for i, view in enumerate(views) if view.mistakes]
        wrong = sorted(wrong, key=lambda i: -views[i].mistakes)[:EXPLAINED]
        for i in steps(wrong, "finding reasons for mistakes"):
            [x] = list(_rows(chosen(X, [i])))
            why = self._reasons(x, views[i], REASONS)
            views[i] = replace(views[i], reasons=why)
        return views


def _rows(X: Any) -> Iterator[Any]:
    """Yield examples; those of a matrix or data frame one row at a time."""
    if hasattr(X, "shape"):
        return (X[[i]] if not hasattr(X, "iloc") else X.iloc[[i]] for i in range(1))
    return iter(X)


def _subtitle(model: Any) -> str:
    names = {"log_loss": "the log loss", "squared_hinge": "the squared hinge"}
    chosen = model._chosen_loss()
    loss = names.get(chosen, f"the {chosen}")
    return f"{type(model).__name__}, trained with {loss}, C = {model.C_:g}"


def _facts(model: Any) -> list[tuple[str, str]]:
    from partwise.solvers.automatic import name_of

    classes = model.classes_
    labels = [str(c) for c in classes] if not isinstance(classes, list) else []
    few = " ".join(labels[:30]) + (" …" if len(labels) > 30 else "")
    weights, solver = model.weights_, model.solver_
    n_weights = f"{weights.size:,}, {np.count_nonzero(weights):,} not zero"
    generative = _is_generative(model)
    facts = [
        ("kind", type(model).__name__),
        ("labels", f"{len(labels)}: {few}" if labels else ""),
        ("probabilities", f"{weights.size:,}" if generative else ""),
        ("weights", "" if generative else n_weights),
        ("solver", solver if isinstance(solver, str) else name_of(solver)),
        ("passes", f"{model.n_iter_:,}" if model.n_iter_ else ""),
        ("training ended", model.status_),
    ]
    return [(name, value) for name, value in facts if value]


def _note(model: Any, views: list[View]) -> str:
    """Say how far the probabilities on the page can be trusted, if it has any."""
    seen = any(view.certain or "sure" in view.more for view in views)
    return doubts_about(model) if seen else ""


def doubts_about(model: Any) -> str:
    """Say that the probabilities of a model are not calibrated; nothing if they are."""
    fits = model._chosen_loss() == "log_loss" and model.certificate_ is not None
    counts = getattr(model, "objective_", "margin") == "likelihood"
    if fits or counts or getattr(model, "_calibration", None) is not None:
        return ""
    return (
        "Probabilities are not calibrated: the model was trained for margins, not to "
        "fit probabilities. Train with the log loss for numbers to rely on."
    )


def _is_generative(model: Any) -> bool:
    """Say whether what a model has learnt are probabilities."""
    return hasattr(model, "objective_")


def _largest_weights(model: Any) -> list[tuple[str, list[tuple[str, float]]]]:
    """Return the features with the largest weights, by label where there are any."""
    if hasattr(model, "probabilities_") and hasattr(model, "symbols_"):
        emission = model.probabilities_.emissions
        return [
            (str(state), [(str(model.symbols_[j]), float(row[j]))
                          for j in np.argsort(-row)[:MOST_FEATURES]])
            for state, row in zip(model.classes_, emission, strict=True)
        ]  # fmt: skip
    if not hasattr(model, "top_features"):
        return []
    if not len(model.classes_):
        return [("", model.top_features(3 * MOST_FEATURES))]
    result = []
    for label in model.classes_.tolist()[:MOST_LABELS]:
        top = model.top_features(MOST_FEATURES, label)
        result.append((str(label), [(feature, w) for feature, _, w in top]))
    return result


def _transitions(model: Any) -> tuple[list[str], Any] | None:
    """Return the weight, or the probability, of every label after every other."""
    if hasattr(model, "transitions_"):
        matrix = model.transitions_
    elif hasattr(model, "probabilities_") and hasattr(model, "symbols_"):
        matrix = model.probabilities_.transitions
    else:
        return None
    labels = [str(label) for label in getattr(model, "states_", model.classes_)]
    return (labels, matrix) if len(labels) <= MOST_LABELS else None


def _point(point: Any) -> dict[str, float | None]:
    certificate = point.certificate
    return {
        "C": point.C,
        "dev_score": point.dev_score,
        "gap": None if certificate is None else certificate.relative_gap,
        "passes": float(len(point.trace)),
        "seconds": point.seconds,
    }
