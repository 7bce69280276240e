"""Graph labelers, as the command line knows them: trained and used in Python."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.graph.labeler:GraphLabeler",
    one="a graph labeler",
    many="graph labelers",
    inspect="partwise.cli.graph.inspect:inspect",
    try_out="partwise.estimators.graph.tryout:try_out",
)
