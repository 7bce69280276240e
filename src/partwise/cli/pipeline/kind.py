"""Pipelines, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.pipeline.pipeline:Pipeline",
    one="a pipeline",
    many="pipelines",
    data="text or CoNLL-U",
    command="pipeline",
    train="partwise.cli.pipeline.train:pipeline",
    predict="partwise.cli.pipeline.predict:predict",
    evaluate="partwise.cli.pipeline.evaluate:evaluate",
    labelled="partwise.cli.pipeline.examples:labelled",
    inspect="partwise.cli.pipeline.inspect:inspect",
    show="partwise.cli.pipeline.show:show",
    try_out="partwise.estimators.pipeline.tryout:try_out",
)
