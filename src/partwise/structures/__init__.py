"""Structures: what an output is made of, and exact inference over all of them."""

from partwise._moved import renamed
from partwise.structures.bayesian_network import (
    BayesianNetwork,
    Network,
    make_bayesian_network,
    make_network,
)
from partwise.structures.chain import Chain, make_chain
from partwise.structures.decoding import (
    Decoded,
    KBest,
    decode,
    decode_kbest,
    part_marginals,
)
from partwise.structures.good_outputs import GoodOutputs, with_good_outputs
from partwise.structures.grammar import (
    Applications,
    ConstituencyTrees,
    Grammar,
    make_applications,
    make_constituency_trees,
    make_grammar,
)
from partwise.structures.graph import (
    CliqueKind,
    Graph,
    Layout,
    RelaxedGraph,
    make_graph,
    make_relaxed_graph,
)
from partwise.structures.hidden_markov import make_hidden_markov
from partwise.structures.lattice import Lattice, LatticeLayout, Words, make_lattice
from partwise.structures.multiclass import Multiclass, make_multiclass
from partwise.structures.probabilities import (
    Drawn,
    draw,
    expected_features,
    log_probabilities,
    log_probabilities_without,
)
from partwise.structures.pseudo_references import (
    GoodAndBad,
    PseudoReferences,
    find_pseudo_references,
    good_and_bad,
)
from partwise.structures.rows import (
    DenseRows,
    MixedRows,
    PairRows,
    SparseRows,
    VectorRows,
    make_dense_rows,
    make_mixed_rows,
    make_pair_rows,
    make_pairs,
    make_sparse_rows,
    make_vector_rows,
    observed_pairs,
)
from partwise.structures.segments import (
    Matches,
    Segments,
    make_matches,
    make_segments,
)
from partwise.structures.slack_rescaling import SlackRescaling, make_slack_rescaling
from partwise.structures.softmax_margin import SoftmaxMargin, make_softmax_margin

__getattr__ = renamed(
    __name__, {"BayesNet": "BayesianNetwork", "make_bayesnet": "make_bayesian_network"}
)


__all__ = [
    "Applications",
    "BayesianNetwork",
    "Chain",
    "CliqueKind",
    "ConstituencyTrees",
    "Decoded",
    "DenseRows",
    "Drawn",
    "GoodAndBad",
    "GoodOutputs",
    "Grammar",
    "Graph",
    "KBest",
    "Lattice",
    "LatticeLayout",
    "Layout",
    "Matches",
    "MixedRows",
    "Multiclass",
    "Network",
    "PairRows",
    "PseudoReferences",
    "RelaxedGraph",
    "Segments",
    "SlackRescaling",
    "SoftmaxMargin",
    "SparseRows",
    "VectorRows",
    "Words",
    "decode",
    "decode_kbest",
    "draw",
    "expected_features",
    "find_pseudo_references",
    "good_and_bad",
    "log_probabilities",
    "log_probabilities_without",
    "make_applications",
    "make_bayesian_network",
    "make_chain",
    "make_constituency_trees",
    "make_dense_rows",
    "make_grammar",
    "make_graph",
    "make_hidden_markov",
    "make_lattice",
    "make_matches",
    "make_mixed_rows",
    "make_multiclass",
    "make_network",
    "make_pair_rows",
    "make_pairs",
    "make_relaxed_graph",
    "make_segments",
    "make_slack_rescaling",
    "make_softmax_margin",
    "make_sparse_rows",
    "make_vector_rows",
    "observed_pairs",
    "part_marginals",
    "with_good_outputs",
]
