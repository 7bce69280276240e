"""Estimators: structured prediction following scikit-learn's conventions."""
