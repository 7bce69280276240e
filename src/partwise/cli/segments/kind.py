"""Segment taggers, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.segments.tagger:SegmentTagger",
    one="a segment tagger",
    many="segment taggers",
    data="columns",
    command="segments",
    train="partwise.cli.segments.train:segments",
    predict="partwise.cli.segments.predict:predict",
    evaluate="partwise.cli.segments.predict:evaluate",
    labelled="partwise.cli.segments.predict:labelled",
    inspect="partwise.cli.sequence.inspect:inspect",
    show="partwise.cli.segments.predict:show",
    try_out="partwise.estimators.segments.tryout:try_out",
)
