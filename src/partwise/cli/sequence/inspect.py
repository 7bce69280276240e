"""What ``partwise inspect`` shows of a tagger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partwise.cli.inspect import Findings, print_top_features, top_features
from partwise.cli.options import Label, Sign, WeightSign
from partwise.cli.vectors import vectors_in, vectors_in_words
from partwise.errors import PartwiseError

if TYPE_CHECKING:
    from partwise import SequenceTagger

OnlyTemplate = Annotated[
    bool, typer.Option("--template", help="Print the template and nothing else.")
]
READS = {
    "template": "columns, through a template",
    "dicts": "named features",
    "dense": "dense arrays",
}


def inspect(
    model: SequenceTagger,
    top: int,
    *,
    label: Label = None,
    sign: Sign = WeightSign.any,
    template: OnlyTemplate = False,
) -> Findings | None:
    """Return the features with the largest weights; or print the template."""
    from partwise.cli.output import say

    read = getattr(getattr(model._input, "encoder", None), "template", None)
    if template:
        if read is None:
            raise PartwiseError("was trained without a template")
        say(str(read.text).rstrip("\n"))
        return None
    resources = {**_states(model), **_resources(read), **vectors_in(model)}
    found = top_features(model, top, label, sign)
    pairs = [
        *_states_in_words(resources),
        *_resources_in_words(resources),
        *vectors_in_words(resources),
        ("features", found["features"]),
    ]
    return Findings(
        READS[model._input.kind],
        {**resources, **found},
        pairs,
        partial(print_top_features, found),
    )


def _states(model: SequenceTagger) -> dict[str, Any]:
    """Return the names of hidden states, if a model has any."""
    return {"states": model.states_} if getattr(model, "_n_states", 1) > 1 else {}


def _states_in_words(found: dict[str, Any]) -> list[tuple[str, object]]:
    if "states" not in found:
        return []
    each = int(str(found["states"][-1]).rpartition("#")[2])
    return [("states", f"{each} behind each label")]


def _resources(template: Any) -> dict[str, Any]:
    """Return the sizes of gazetteers and clusters, if a template has any."""
    resources = getattr(template, "resources", None)
    if not resources:
        return {}
    known = resources.clusters
    return {
        "gazetteers": [
            {type: len(one.phrases[type]) for type in one.types}
            for one in resources.gazetteers
        ],
        "clusters": None
        if known is None
        else {
            "words": len(known.cluster_of),
            "clusters": len(set(known.cluster_of.values())),
        },
    }


def _resources_in_words(found: dict[str, Any]) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    sizes = [
        f"{type} ({size:,})"
        for gazetteer in found.get("gazetteers", [])
        for type, size in gazetteer.items()
    ]
    if sizes:
        pairs.append(("gazetteers", " ".join(sizes)))
    if found.get("clusters"):
        words, clusters = found["clusters"].values()
        pairs.append(("clusters", f"{clusters:,} of {words:,} words"))
    return pairs
