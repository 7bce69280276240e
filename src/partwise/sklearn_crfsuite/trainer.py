"""A trainer that says what an iteration achieved in one line."""

from __future__ import annotations

from typing import Any

from partwise.pycrfsuite import Trainer


class LinePerIterationTrainer(Trainer):
    """Prints a line per iteration, and a table of the last evaluation."""

    def on_iteration(self, log: str, info: Any) -> None:
        """Print what is known of an iteration."""
        parts = [f"Iter {info['num']:<3} ", f"time={info['time']:<5.2f} "]
        parts.append(f"loss={info['loss']:<8.2f} ")
        if "active_features" in info:
            parts.append(f"active={info['active_features']:<5} ")
        if "avg_precision" in info:
            parts.append(
                f"precision={info['avg_precision']:0.3f}  "
                f"recall={info['avg_recall']:0.3f}  F1={info['avg_f1']:0.3f}  "
                f"Acc(item/seq)={info['item_accuracy_float']:0.3f} "
                f"{info['instance_accuracy_float']:0.3f}  "
            )
        if "feature_norm" in info:
            parts.append(f"feature_norm={info['feature_norm']:<8.2f}")
        print("".join(parts).strip())

    def on_optimization_end(self, log: str) -> None:
        """Print the scores of every label after the last iteration."""
        parser = self.logparser
        last = None if parser is None else parser.last_iteration
        if last and last["scores"]:
            print(_table(last["scores"]))
        super().on_optimization_end(log)


def _table(scores: dict[str, Any]) -> str:
    """Return precision, recall, F1 and support of every label, in columns."""
    rows = [["Label", "Precision", "Recall", "F1", "Support"]]
    for label, score in sorted(scores.items()):
        numbers = (score.precision, score.recall, score.f1 or 0.0)
        cells = ["" if x is None else f"{x:0.3f}" for x in numbers]
        rows.append([label, *cells, str(score.ref)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    first, *others = widths
    lines = [
        "  ".join(
            [row[0].ljust(first)]
            + [cell.rjust(w) for cell, w in zip(row[1:], others, strict=True)]
        )
        for row in rows
    ]
    rule = "  ".join("-" * width for width in widths)
    edge = len(rule)
    return "\n".join(["=" * edge, lines[0], rule, *lines[1:], "-" * edge])
