"""``partwise inspect``: what is in a model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from partwise.cli.kinds import (
    is_constituency_parser,
    is_hidden_markov,
    is_lattice_ranker,
    is_network,
    is_parser,
    load_model,
    refuse_options,
)
from partwise.cli.options import AsJson
from partwise.errors import PartwiseError

READS = {
    "template": "columns, through a template",
    "dicts": "named features",
    "dense": "dense arrays",
    "trees": "treebanks",
    "grammar": "sentences, or trees in brackets",
    "graphs": "graphs, in Python",
    "lattices": "lattices, JSON lines",
    "probabilities": "columns, one of them with symbols",
    "network": "tables with names of columns",
    None: None,
}
# Settings of a run rather than of the model, and the template, which is long.
NOT_SHOWN = (
    *("template", "verbose", "callbacks", "checkpoint", "resume", "warm_start"),
    *("dev_metric", "time_limit", "patience"),
)


def inspect(
    model: Annotated[str, typer.Argument(help="A model saved by `partwise train`.")],
    top: Annotated[
        int, typer.Option(min=0, help="How many features a label, and transitions.")
    ] = 5,
    label: Annotated[
        str | None, typer.Option(help="Only the features of this label.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print the template and nothing else.")
    ] = False,
    trace: Annotated[
        bool, typer.Option("--trace", help="Show every pass of the training.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show what is in a model: labels, sizes, certificate, settings, weights."""
    from partwise.cli.output import print_json

    fitted = load_model(model)
    if template:
        typer.echo(_template_text(fitted, model).rstrip("\n"))
        return
    if is_parser(fitted) or is_constituency_parser(fitted):
        hashed = f"{model} is a parser, whose weights are hashed and have no names"
        refuse_options(hashed, "taggers and classifiers", {"--label": label})
    if _is_graph_labeler(fitted):
        counted = f"{model} labels graphs, whose weights are counted for every kind"
        refuse_options(counted, "taggers and classifiers", {"--label": label})
    if is_lattice_ranker(fitted):
        unlabelled = f"{model} ranks paths, which have no labels"
        refuse_options(unlabelled, "taggers and classifiers", {"--label": label})
    if is_network(fitted):
        tables = f"{model} is a Bayesian network, with tables of probabilities"
        refuse_options(tables, "taggers and classifiers", {"--label": label})
    description = describe(fitted, model, top, label)
    if json:
        print_json(description)
    else:
        _show(description, fitted, trace)


def _is_graph_labeler(model: object) -> bool:
    from partwise import GraphLabeler

    return isinstance(model, GraphLabeler)


def _template_text(model: Any, path: str) -> str:
    encoder = getattr(getattr(model, "_input", None), "encoder", None)
    template = getattr(encoder, "template", None)
    if template is None:
        raise PartwiseError(f"{path}: was trained without a template")
    return str(template.text)


def _resources(model: Any) -> dict[str, Any]:
    """Return the sizes of the gazetteers and clusters in a model, if it has any."""
    encoder = getattr(getattr(model, "_input", None), "encoder", None)
    resources = getattr(getattr(encoder, "template", None), "resources", None)
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


def describe(model: Any, path: str, top: int, label: str | None) -> dict[str, Any]:
    """Return what there is to know about a model, by name."""
    import numpy as np

    from partwise.cli import certificates

    # Of a Bayesian network with several targets, the first one; lattices have none.
    unlabelled = is_network(model) or is_lattice_ranker(model)
    classes = model._labels.classes if unlabelled else model.classes_.tolist()
    return {
        "model": path,
        "bytes": Path(path).stat().st_size,
        "kind": type(model).__name__,
        "input": getattr(getattr(model, "_input", None), "kind", None),
        **_resources(model),
        "labels": classes,
        **_features(model, classes, path, top, label),
        "weights": int(model.weights_.size),
        "nonzero_weights": int(np.count_nonzero(model.weights_)),
        "passes": model.n_iter_,
        "certificate": certificates.in_numbers(model.certificate_),
        "status": model.status_,
        "generalization_bound": getattr(model, "bound_", None),
        "settings": _settings(model),
        "transitions": _strongest_transitions(model, classes, top),
        "trace": model.trace_.to_dict(),
    }


def _features(
    model: Any, classes: list[Any], path: str, top: int, label: str | None
) -> dict[str, Any]:
    """Return what can be said of features.

    Those of parsers are hashed; those of graphs differ from kind to kind.
    """
    if is_parser(model):
        return {"trees": asdict(model._trees)}
    if is_constituency_parser(model):
        grammar, words = model._grammar, model._grammar.lexicon.words
        sizes = (len(grammar.symbols), len(grammar.rules), len(words))
        return {"grammar": dict(zip(("symbols", "rules", "words"), sizes, strict=True))}
    if _is_graph_labeler(model):
        return {"graphs": _graph_kinds(model)}
    if is_lattice_ranker(model):
        return _edge_features(model, top)
    if is_network(model):
        from partwise.cli.bayesian_network.inspect import describe_network

        return {"network": describe_network(model, top)}
    chosen = classes if label is None else [_find_label(classes, label, path)]
    if is_hidden_markov(model):
        from partwise.cli.hidden_markov.inspect import probabilities

        return {"probabilities": probabilities(model, top, chosen)}
    weights = model._weights
    return {
        "features": len(weights.names),
        "top_features": {
            str(one): [
                {"feature": feature, "weight": weight}
                for feature, _, weight in weights.top(
                    model.weights_, top, classes.index(one)
                )
            ]
            for one in chosen
        },
    }


def _edge_features(model: Any, top: int) -> dict[str, Any]:
    """Return the features of edges with the largest weights."""
    return {
        "lattices": {"outputs": model.outputs},
        "features": int(model.weights_.size),
        "top_features": {
            "edges": [
                {"feature": feature, "weight": weight}
                for feature, weight in model.top_features(2 * top)
            ]
        },
    }


def _graph_kinds(model: Any) -> dict[str, Any]:
    """Return what a graph labeler knows of the kinds of nodes, edges and cliques."""
    encoder = model._graphs
    counts = encoder.weight_counts()
    classes, n_kinds = model.classes_.tolist(), len(encoder.node_kinds)
    nodes = zip(encoder.node_kinds.items(), counts[:n_kinds], strict=True)
    joint = zip(encoder.joint_kinds, counts[n_kinds:], strict=True)
    return {
        "directed": encoder.directed,
        "features": {what: own.width for what, own in encoder.features.items()},
        "node_kinds": [
            {"kind": kind, "labels": [classes[k] for k in codes], "weights": count}
            for (kind, codes), count in nodes
        ],
        "edge_and_clique_kinds": [
            {"kind": kind, "node_kinds": list(joined), "weights": count}
            for (kind, *joined), count in joint
        ],
    }


def _graph_kind_rows(graphs: dict[str, Any]) -> list[list[Any]]:
    """Return a row for every kind: of what, the kind, its labels or nodes, weights."""
    rows = [
        ["nodes", one["kind"], " ".join(map(str, one["labels"])), one["weights"]]
        for one in graphs["node_kinds"]
    ]
    between = " -> " if graphs["directed"] else " - "
    for one in graphs["edge_and_clique_kinds"]:
        what = "cliques" if one["kind"] is None else "edges"
        joined = ", " if one["kind"] is None else between
        # The only kind there is has no name.
        nodes = joined.join(kind or "node" for kind in one["node_kinds"])
        rows.append([what, one["kind"] or "", nodes, one["weights"]])
    return rows


def _graphs_in_words(graphs: dict[str, Any] | None) -> list[tuple[str, str]]:
    if graphs is None:
        return []
    features = [f"{n:,} of {what}s" for what, n in graphs["features"].items()]
    return [
        ("edges", "directed" if graphs["directed"] else "undirected"),
        ("features", f"{', '.join(features)}, and a constant one"),
    ]


def _bound_in_words(bound: float | None) -> str | None:
    """Say what the bound is worth, which is not much."""
    if bound is None:
        return None
    empty = "; 1 or more says nothing" * (bound >= 1.0)
    return (
        f"{bound:.3g} of triples of input, good and wrong output{empty} (a curiosity, "
        "no guarantee: there are exponentially many, and they are not independent)"
    )


def _objective_in_words(probabilities: dict[str, Any] | None) -> list[tuple[str, Any]]:
    if probabilities is None:
        return []
    names = ("symbols", "objective", "reference", "C")
    return [(name, probabilities.get(name)) for name in names]


def _find_label(classes: list[Any], label: str, path: str) -> Any:
    for one in classes:
        if str(one) == label:
            return one
    known = ", ".join(map(str, classes))
    raise PartwiseError(f"{path}: has no label {label!r} (its labels are {known})")


def _settings(model: Any) -> dict[str, Any]:
    """Return the settings that shape the model, as plain values."""
    params = model.get_params(deep=False)
    return {
        name: value if isinstance(value, str | int | float | bool) else str(value)
        for name, value in sorted(params.items())
        if name not in NOT_SHOWN and value is not None and not isinstance(value, tuple)
    }


def _strongest_transitions(
    model: Any, classes: list[Any], top: int
) -> list[dict[str, Any]]:
    """Return the largest and the smallest weights of one label after another."""
    import numpy as np

    if not hasattr(model, "transitions_"):
        return []
    matrix = model.transitions_
    order = np.argsort(-matrix, axis=None, kind="stable")
    ends = order if order.size <= 2 * top else np.r_[order[:top], order[-top:]]
    if not top:
        ends = order[:0]
    rows, columns = np.unravel_index(ends, matrix.shape)
    return [
        {"from": classes[a], "to": classes[b], "weight": float(matrix[a, b])}
        for a, b in zip(rows, columns, strict=True)
    ]


def _resources_in_words(found: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = []
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


def _trees_in_words(trees: dict[str, Any] | None) -> str | None:
    if trees is None:
        return None
    kind = "projective" if trees["projective"] else "projective or not"
    roots = "one root" if trees["single_root"] else "one root or several"
    return f"{kind}, {roots}"


def _input_kind(found: dict[str, Any]) -> str | None:
    kinds = ("trees", "grammar", "graphs", "lattices", "probabilities", "network")
    for kind in kinds:
        if kind in found:
            return kind
    return found["input"]  # type: ignore[no-any-return]


def _grammar_in_words(sizes: dict[str, int] | None) -> str | None:
    if sizes is None:
        return None
    return ", ".join(f"{size:,} {name}" for name, size in sizes.items())


def _arc_features_in_words(trees: dict[str, Any] | None) -> str | None:
    if trees is None:
        return None
    from partwise.features.arc_groups import GROUPS

    is_all = tuple(trees["features"]) == GROUPS
    groups = "all" if is_all else ", ".join(trees["features"])
    n_given = trees["n_arc_features"]
    return f"{groups}; {n_given:,} given for every arc" if n_given else groups


def _labels_in_words(labels: list[Any], found: dict[str, Any]) -> str | None:
    if "lattices" in found:
        return None
    return f"{len(labels)}: {' '.join(map(str, labels))}"


def _show(found: dict[str, Any], model: Any, trace: bool) -> None:
    from partwise.cli import certificates
    from partwise.cli.output import (
        console,
        print_pairs,
        print_table,
    )

    out = console()
    labels = found["labels"]
    print_pairs(
        found["model"],
        [
            ("kind", found["kind"]),
            ("reads", READS[_input_kind(found)]),
            *_resources_in_words(found),
            ("bytes", found["bytes"]),
            ("labels", _labels_in_words(labels, found)),
            ("trees", _trees_in_words(found.get("trees"))),
            ("arc features", _arc_features_in_words(found.get("trees"))),
            ("grammar", _grammar_in_words(found.get("grammar"))),
            *_graphs_in_words(found.get("graphs")),
            ("features", found.get("features")),
            *_objective_in_words(found.get("probabilities") or found.get("network")),
            ("weights", found["weights"]),
            ("not zero", found["nonzero_weights"]),
            ("passes", found["passes"]),
            ("status", found["status"]),
            ("bound on error", _bound_in_words(found["generalization_bound"])),
        ],
    )
    words = certificates.in_words(model.certificate_, model.trace_)
    out.print(f"\n{words}\n", soft_wrap=True)
    print_pairs("settings", found["settings"].items())
    if "graphs" in found:
        out.print()
        print_table(
            "weights of every kind",
            ["of", "kind", "labels, or nodes joined", "weights"],
            _graph_kind_rows(found["graphs"]),
        )
    if "top_features" in found:
        out.print()
        print_table(
            "features with the largest weights",
            ["of" if "lattices" in found else "label", "feature", "weight"],
            [
                ["" if i else label, one["feature"], one["weight"]]
                for label, features in found["top_features"].items()
                for i, one in enumerate(features)
            ],
        )
    if "probabilities" in found:
        from partwise.cli.hidden_markov import inspect as inspect_hidden_markov

        inspect_hidden_markov.show(found["probabilities"])
    if "network" in found:
        from partwise.cli.bayesian_network import inspect as inspect_bayesnet

        inspect_bayesnet.show(found["network"])
    if found["transitions"]:
        out.print()
        print_table(
            "transitions, most and least liked",
            ["from", "to", "weight"],
            [list(one.values()) for one in found["transitions"]],
        )
    if trace:
        typer.echo(f"\ntraining\n{model.trace_}")
