"""Constituency parsers, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.constituency.parser:ConstituencyParser",
    one="a constituency parser",
    many="constituency parsers",
    data="trees in brackets",
    command="constituency",
    train="partwise.cli.constituency.train:constituency",
    predict="partwise.cli.constituency.predict:predict",
    evaluate="partwise.cli.constituency.evaluate:evaluate",
    compare="partwise.cli.constituency.evaluate:compare",
    labelled="partwise.cli.constituency.examples:labelled",
    inspect="partwise.cli.constituency.inspect:inspect",
    show="partwise.cli.constituency.show:show",
    draw="partwise.cli.constituency.show:draw",
    recognises="partwise.cli.constituency.files:is_bracketed",
    demo="partwise.cli.constituency.demo:DEMO",
    try_out="partwise.estimators.constituency.tryout:try_out",
)
