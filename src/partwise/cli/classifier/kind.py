"""Classifiers, as the command line knows them: trained and used in Python."""

from partwise.cli.kinds import Kind

KIND = Kind(
    estimator="partwise.estimators.classifier.classifier:MulticlassClassifier",
    one="a classifier",
    many="classifiers",
    inspect="partwise.cli.classifier.inspect:inspect",
    try_out="partwise.estimators.classifier.tryout:try_out",
)
