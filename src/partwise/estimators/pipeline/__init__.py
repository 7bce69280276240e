"""The pipeline: from raw text to trees, by estimators that are trained together."""
