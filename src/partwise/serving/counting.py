"""What a server has done, as text that Prometheus reads."""

from __future__ import annotations

from collections import Counter, defaultdict

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds that requests are sorted by."""


class Counts:
    """Counts requests, inputs and seconds.

    Examples
    --------
    >>> counts = Counts()
    >>> counts.request("ner", 200, 0.002, inputs=3)
    >>> print(counts.text().splitlines()[1])
    partwise_requests_total{model="ner",status="200"} 1
    """

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.inputs: Counter[str] = Counter()
        self.seconds: defaultdict[str, list[float]] = defaultdict(
            lambda: [0.0] * (len(BOUNDS) + 2)
        )

    def request(self, model: str, status: int, seconds: float, inputs: int) -> None:
        """Count a request."""
        self.requests[model, status] += 1
        self.inputs[model] += inputs
        row = self.seconds[model]
        for j, bound in enumerate(BOUNDS):
            row[j] += seconds <= bound
        row[-2] += 1
        row[-1] += seconds

    def text(self) -> str:
        """Return all counts in the text format of Prometheus."""
        lines = ["# TYPE partwise_requests_total counter"]
        for (model, status), count in sorted(self.requests.items()):
            labels = f'model="{model}",status="{status}"'
            lines.append(f"partwise_requests_total{{{labels}}} {count}")
        lines.append("# TYPE partwise_inputs_total counter")
        for model, count in sorted(self.inputs.items()):
            lines.append(f'partwise_inputs_total{{model="{model}"}} {count}')
        lines.append("# TYPE partwise_request_seconds histogram")
        for model, row in sorted(self.seconds.items()):
            name = f'partwise_request_seconds_bucket{{model="{model}",le='
            for bound, number in zip([*map(str, BOUNDS), "+Inf"], row, strict=False):
                lines.append(f'{name}"{bound}"}} {number:g}')
            lines.append(f'partwise_request_seconds_sum{{model="{model}"}} {row[-1]}')
            lines.append(
                f'partwise_request_seconds_count{{model="{model}"}} {row[-2]:g}'
            )
        return "\n".join(lines) + "\n"
