"""Estimators: structured prediction with scikit-learn's manners."""
