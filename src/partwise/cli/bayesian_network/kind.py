"""Bayesian networks, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator=(
        "partwise.estimators.bayesian_network.classifier:BayesianNetworkClassifier"
    ),
    one="a Bayesian network",
    many="Bayesian networks",
    data="a table",
    command="bayesnet",
    train="partwise.cli.bayesian_network.train:bayesnet",
    predict="partwise.cli.bayesian_network.predict:predict",
    evaluate="partwise.cli.bayesian_network.evaluate:evaluate",
    labelled="partwise.cli.bayesian_network.examples:labelled",
    inspect="partwise.cli.bayesian_network.inspect:inspect",
    try_out="partwise.estimators.bayesian_network.tryout:try_out",
)
