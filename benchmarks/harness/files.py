"""Writing a report: JSON for programs, Markdown and PNG for people."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from benchmarks.harness.bench import Bench, Skip
from benchmarks.harness.catalogue import summaries
from benchmarks.harness.machine import describe_machine, versions
from benchmarks.harness.report import Plot, Report, Table

QUICK = (
    "A quick run: it shows that the benchmark works; its figures mean little and its "
    "goals were not judged."
)


def write_report(bench: Bench, report: Report, seconds: float) -> Path:
    """Write NAME.json, the plots and NAME.md; return the last."""
    bench.out.mkdir(parents=True, exist_ok=True)
    content = {
        "name": bench.name,
        "quick": bench.quick,
        "left out": bench.left_out,
        "data": bench.sources,
        "figures": [figure.to_json(not bench.quick) for figure in report.figures],
        "settings": report.settings,
        "seeds": report.seeds,
        "tables": [vars(table) for table in report.tables],
        "curves": {plot.name: [vars(c) for c in plot.curves] for plot in report.plots},
        "notes": report.notes,
        "machine": describe_machine(),
        "versions": versions(),
        "seconds": round(seconds, 1),
    }
    path = bench.out / f"{bench.name}.json"
    # JSON knows no NaN: what could not be measured is null.
    path.write_text(
        json.dumps(_plain(content), indent=1, allow_nan=False) + "\n", encoding="utf-8"
    )
    pictures = [_draw(bench, plot) for plot in report.plots]
    page = bench.out / f"{bench.name}.md"
    page.write_text(_markdown(bench, report, content, pictures), encoding="utf-8")
    return page


def _plain(value: Any) -> Any:
    """Return only what JSON can say."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "item"):  # a NumPy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _markdown(
    bench: Bench, report: Report, content: dict[str, Any], pictures: list[str]
) -> str:
    marks = {True: "yes", False: "**no**", None: ""}
    rows = [
        [f["name"], f["value"], f["unit"], f["goal"] or "", marks[f["met"]]]
        for f in content["figures"]
    ]
    machine = content["machine"]
    parts = [f"# {bench.name}", summaries()[bench.name]]
    if bench.quick:
        parts.append(f"*{QUICK}*")
    if bench.left_out:
        parts.append(f"*Without: {', '.join(bench.left_out)}.*")
    parts.append(_table(Table("", ["figure", "value", "unit", "goal", "met"], rows)))
    for table in report.tables:
        parts += [f"## {table.title}", _table(table)]
    parts += [f"![{Path(name).stem}]({name})" for name in pictures]
    parts += ["\n".join(f"- {note}" for note in report.notes)] if report.notes else []
    parts.append(
        "\n".join(
            f"- Data, {what}: {source}." for what, source in bench.sources.items()
        )
        + f"\n- Machine: {machine['processor']}, {machine['cores']} cores, one thread "
        f"used, load {machine['load_average']}; {machine['system']}.\n- Versions: "
        + ", ".join(f"{name} {v}" for name, v in content["versions"].items())
        + f".\n- The whole benchmark took {seconds_text(content['seconds'])}."
    )
    return "\n\n".join(parts) + "\n"


def seconds_text(seconds: float) -> str:
    """Say how long something took."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.1f} min"


def _table(table: Table) -> str:
    lines = [list(table.headings), ["---"] * len(table.headings)]
    lines += [[_cell(value) for value in row] for row in table.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, str):
        return value.replace("|", "\\|")
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _draw(bench: Bench, plot: Plot) -> str:
    """Draw a plot; return the name of its file."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise Skip("plots need matplotlib: pip install 'partwise[bench]'") from None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for curve in plot.curves:
        mark = "o" if len(curve.x) == 1 else "."
        axes.plot(curve.x, curve.y, marker=mark, linewidth=1.2, label=curve.label)
    axes.set(xlabel=plot.x_label, ylabel=plot.y_label)
    if plot.log_x:
        axes.set_xscale("log")
    if plot.log_y:
        axes.set_yscale("log")
    if plot.y_range:
        axes.set_ylim(*plot.y_range)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    name = f"{bench.name}-{plot.name}.png"
    figure.savefig(bench.out / name, dpi=120)
    return name
