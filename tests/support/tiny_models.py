"""Every kind of model with data of a few words, to train in plain Python."""

import io
from typing import Any

import networkx as nx
import numpy as np

import partwise
from partwise import LatticeInput
from partwise.data import Sentence, read_brackets

WORDS = [["the", "dog"], ["a", "cat", "sleeps"], ["the", "dog"]]
TAGS = [["D", "N"], ["D", "N", "V"], ["D", "V"]]
TOKENS = [[[word] for word in sentence] for sentence in WORDS]
PART = "by the least probable part of what the data says: -ln p"
SURPRISE = "by how improbable the model finds them"


def _graphs() -> tuple[Any, Any]:
    one, other = nx.path_graph(3), nx.path_graph(3)
    one.nodes[0]["colour"], other.nodes[2]["colour"] = "blue", "brown"
    return [one, other], [["sea"] * 3, ["land", "sea", "land"]]


def tiny_cases() -> dict[str, Any]:
    dogs = Sentence.from_columns(
        forms=["Dogs", "bark"], upos=["N", "V"], heads=[2, 0], labels=["nsubj", "root"]
    )
    turned = dogs.with_tree([0, 1], ["root", "x"])
    trees = read_brackets(io.StringIO("(S (NP (NNS dogs)) (VP (VBP bark)))"))
    edges = [(0, 1, {"x": 2}, "a"), (0, 1, {"x": 1}, "b"), (1, 2, {}, "c")]
    lattices = [LatticeInput(edges, good=[[1, 2]]), LatticeInput(edges, good=[[0, 2]])]
    rows = [{"sky": "grey", "wet": "y"}, {"sky": "blue", "wet": "n"}] * 2
    X = np.array([[0.0], [0.1], [2.0], [2.1], [0.05]])
    low, high = "low", "high"
    return {
        "log": (partwise.SequenceTagger(loss="log_loss"), (TOKENS, TAGS), PART),
        "hinge": (partwise.SequenceTagger(loss="hinge"), (TOKENS, TAGS), PART),
        "hmm": (
            partwise.HiddenMarkovModel(objective="likelihood"),
            (WORDS, TAGS),
            SURPRISE,
        ),
        "arcs": (partwise.DependencyParser(hash_bits=8), ([dogs, dogs, turned],), PART),
        "brackets": (partwise.ConstituencyParser(hash_bits=8), (trees * 2,), PART),
        "segments": (
            partwise.SegmentTagger(loss="log_loss", template="words"),
            (WORDS, [[(0, 2, "NP")], [(0, 2, "NP"), (2, 3, "VP")], []]),
            PART,
        ),
        "graph": (partwise.GraphLabeler(C=1.0), _graphs(), PART),
        "lattice": (partwise.LatticeRanker(C=1.0), (lattices,), PART),
        "network": (partwise.BayesianNetworkClassifier(target="wet"), (rows,), PART),
        "classes": (
            partwise.MulticlassClassifier(),
            (X, [low, low, high, high, high]),
            PART,
        ),
    }
