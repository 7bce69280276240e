"""Readers and writers of the data formats that taggers and parsers use."""

from partwise.data.bracketed import (
    escape_brackets,
    iter_brackets,
    read_brackets,
    write_brackets,
)
from partwise.data.clusters import read_clusters
from partwise.data.column_writer import write_columns
from partwise.data.columns import ColumnData, iter_columns, read_columns, resolve_column
from partwise.data.crfsuite import read_crfsuite, write_crfsuite
from partwise.data.files import open_output, read_lines
from partwise.data.gazetteer import read_gazetteer
from partwise.data.lattice_files import iter_lattices, read_lattices, write_lattices
from partwise.data.svmhmm import read_svmhmm, write_svmhmm
from partwise.data.tables import TextTable, read_csv, write_csv
from partwise.data.tree_files import iter_trees, read_trees, write_trees
from partwise.data.treebank import Sentence
from partwise.data.vectors import read_vectors

__all__ = [
    "ColumnData",
    "Sentence",
    "TextTable",
    "escape_brackets",
    "iter_brackets",
    "iter_columns",
    "iter_lattices",
    "iter_trees",
    "open_output",
    "read_brackets",
    "read_clusters",
    "read_columns",
    "read_crfsuite",
    "read_csv",
    "read_gazetteer",
    "read_lattices",
    "read_lines",
    "read_svmhmm",
    "read_trees",
    "read_vectors",
    "resolve_column",
    "write_brackets",
    "write_columns",
    "write_crfsuite",
    "write_csv",
    "write_lattices",
    "write_svmhmm",
    "write_trees",
]
