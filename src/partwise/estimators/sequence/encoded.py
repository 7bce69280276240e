"""How a tagger writes a corpus to a folder, and learns from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from partwise.errors import DataError
from partwise.estimators import checks
from partwise.estimators import costs as weighting
from partwise.estimators.base import TrainingData
from partwise.estimators.encoded import LearnsFromFolders
from partwise.estimators.encoded_corpus import CorpusPart, EncodedCorpus, write_rows
from partwise.estimators.labels import Label, LabelCodes
from partwise.estimators.sequence.inputs import (
    Tokens,
    load_input,
    read_template,
)
from partwise.estimators.suitable_defaults import read_row_size
from partwise.model_file import Content, prefixed
from partwise.model_file.folder import FolderWriter
from partwise.structures.interface import CodeArray, IntArray
from partwise.structures.rows import SparseRows, no_rows


class LabelsOf(Sequence[list[Label]]):
    """The labels of sequences, decoded when one is asked for."""

    def __init__(self, gold: CodeArray, ptr: IntArray, labels: LabelCodes):
        self._gold, self._ptr, self._labels = gold, ptr, labels

    def __len__(self) -> int:
        """Return the number of sequences."""
        return self._ptr.size - 1

    def __getitem__(self, i: Any) -> Any:
        """Return the labels of a sequence."""
        return self._labels.decode(self._gold[self._ptr[i] : self._ptr[i + 1]].tolist())


class EncodedTagging(LearnsFromFolders):
    """Mixin of taggers: the features of tokens, and their labels, lie in a folder.

    All that is not a feature is chosen at training: costs, constraints, weights of
    classes, which transitions have weights.
    """

    encoding_settings = (
        *("boundaries", "min_count", "hash_bits", "transition_features"),
        "conllu_column",
    )

    def _write_piece(
        self: Any, writer: FolderWriter, X: Any, y: Any, sample_weight: Any = None
    ) -> int:
        """Write sequences and their labels."""
        checks.check_no_weights(sample_weight)
        y, tokens = checks.label_lists(y), self._input.encode(X)
        checks.check_labelled(tokens.ptr, y)
        gold = self._labels.encode((label for labels in y for label in labels), "y")
        writer.append_pointers("ptr", tokens.ptr)
        writer.append("labels", gold)
        write_rows(writer, "nodes", tokens.nodes)
        if tokens.edges.n_columns:
            write_rows(writer, "edges", tokens.edges)
        return len(y)

    def _store_encoding(self: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the encoder, and the settings that made it."""
        own, own_settings = self._input.to_tensors()
        chosen = {name: getattr(self, name) for name in self.encoding_settings}
        chosen["transition_features"] = list(self.transition_features)
        settings = {
            "input": {"kind": self._input.kind, **own_settings},
            "row_size": self._row_size,
            "encoding": chosen,
        }
        return prefixed("input", own), settings

    def _fill_encoding(self: Any, corpus: EncodedCorpus) -> None:
        """Become settled as the tagger was that wrote the folder."""
        content = corpus.folder.manifest
        self._refuse_vectors()
        source = load_input(content.part("input"))
        if self.template is not None:
            _check_template(self.template, source, content)
        self._row_size = read_row_size(content)
        self._set_source(source, self._labels.classes)

    def _tokens_of(self: Any, part: CorpusPart) -> tuple[Tokens, CodeArray]:
        """Return the tokens of a folder and their labels, mapped and checked."""
        ptr, inside = part.pointers("ptr")
        gold = inside.values(
            "labels", dtype=np.int32, at_least=0, below=len(self._labels)
        )
        nodes = inside.rows("nodes", self._input.n_features)
        edges: Any = no_rows()
        if self._input.n_edge_features:
            edges = inside.rows("edges", self._input.n_edge_features)
            if not isinstance(edges, SparseRows):
                raise part.content.error("the features of transitions are damaged")
        return Tokens(ptr, nodes, edges), gold

    def _prepare_part(self: Any, part: CorpusPart) -> TrainingData:
        """Return a shard, once the encoding is taken over."""
        if self.states > 1:
            raise ValueError(
                "hidden states need the whole corpus at once; to learn from shards use "
                "states=1"
            )
        tokens, gold = self._tokens_of(part)
        y = LabelsOf(gold, tokens.ptr, self._labels)
        chain = self._labelled(tokens, y, gold, self._by_class)
        given = self.costs is not None or self.class_weight is not None
        return TrainingData(self._with_costs(chain, given))

    def _prepare_encoded(
        self: Any, corpus: EncodedCorpus, sample_weight: Any, **options: Any
    ) -> TrainingData:
        """Return the corpus of a folder, as `_prepare` returns that of memory."""
        with corpus.within_memory():
            corpus.folder.check_integrity()
            self._take_encoding(corpus)
            tokens, gold = self._tokens_of(corpus.part())
            y = LabelsOf(gold, tokens.ptr, self._labels)
            weight = weighting.sample_weights(sample_weight, len(y))
            data: TrainingData = self._assemble(tokens, y, gold, weight, **options)
        return replace(data, on_disk=corpus.n_bytes, within=corpus.within_memory)


def _check_template(template: Any, source: Any, content: Content) -> None:
    """Raise `DataError` unless a template is that of the folder."""
    known = getattr(getattr(source, "encoder", None), "template", None)
    if known is not None:
        lines = (*known.node_lines, *known.edge_lines)
        columns = [macro.column for line in lines for macro in line.macros]
        given = read_template(template, 1 + max(columns, default=0))
        if getattr(given, "text", given) == known.text:
            return
    raise DataError(
        f"{content.source}: the data was encoded with another template; leave template "
        "out, or encode the data again"
    )
