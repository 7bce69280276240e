"""Dependency parsers, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.dependency.parser:DependencyParser",
    one="a dependency parser",
    many="dependency parsers",
    data="dependency trees",
    command="parse",
    train="partwise.cli.dependency.train:parse",
    predict="partwise.cli.dependency.predict:predict",
    evaluate="partwise.cli.dependency.evaluate:evaluate",
    compare="partwise.cli.dependency.evaluate:compare",
    labelled="partwise.cli.dependency.examples:labelled",
    inspect="partwise.cli.dependency.inspect:inspect",
    show="partwise.cli.dependency.show:show",
    draw="partwise.cli.dependency.show:draw",
    recognises="partwise.cli.dependency.files:recognises",
    demo="partwise.cli.dependency.demo:DEMO",
    try_out="partwise.estimators.dependency.tryout:try_out",
)
