"""Hidden Markov models, as the command line knows them."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.hidden_markov.model:HiddenMarkovModel",
    one="a hidden Markov model",
    many="hidden Markov models",
    data="columns",
    command="hmm",
    train="partwise.cli.hidden_markov.train:hmm",
    predict="partwise.cli.hidden_markov.predict:predict",
    evaluate="partwise.cli.hidden_markov.predict:evaluate",
    labelled="partwise.cli.hidden_markov.examples:labelled",
    inspect="partwise.cli.hidden_markov.inspect:inspect",
    try_out="partwise.estimators.hidden_markov.tryout:try_out",
)
