"""Taggers, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.sequence.tagger:SequenceTagger",
    one="a tagger",
    many="taggers",
    data="columns",
    command="tag",
    train="partwise.cli.sequence.train:tag",
    encode="partwise.cli.sequence.encode:encode",
    predict="partwise.cli.sequence.predict:predict",
    evaluate="partwise.cli.sequence.evaluate:evaluate",
    compare="partwise.cli.sequence.evaluate:compare",
    labelled="partwise.cli.sequence.examples:labelled",
    inspect="partwise.cli.sequence.inspect:inspect",
    show="partwise.cli.sequence.show:show",
    draw="partwise.cli.sequence.show:draw",
    contrast="partwise.cli.sequence.examples:contrast",
    recognises="partwise.cli.sequence.evaluate:recognises",
    demo="partwise.cli.sequence.demo:DEMO",
    try_out="partwise.estimators.sequence.tryout:try_out",
)
