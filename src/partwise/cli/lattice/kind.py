"""Lattice rankers, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.lattice.ranker:LatticeRanker",
    one="a lattice ranker",
    many="lattice rankers",
    data="lattices",
    command="lattice",
    train="partwise.cli.lattice.train:lattice",
    predict="partwise.cli.lattice.predict:predict",
    evaluate="partwise.cli.lattice.evaluate:evaluate",
    labelled="partwise.cli.lattice.examples:labelled",
    inspect="partwise.cli.lattice.inspect:inspect",
    show="partwise.cli.lattice.show:show",
    draw="partwise.cli.lattice.show:draw",
    recognises="partwise.cli.lattice.show:recognises",
    try_out="partwise.estimators.lattice.tryout:try_out",
)
