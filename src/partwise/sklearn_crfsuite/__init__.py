"""sklearn-crfsuite's module with Partwise inside.

Change one line of a program, and keep the rest::

    import partwise.sklearn_crfsuite as sklearn_crfsuite

Parameters, fitted attributes, errors and model files are those of sklearn-crfsuite; it
works with today's scikit-learn.
"""

from partwise.sklearn_crfsuite.estimator import CRF

__all__ = ["CRF"]
