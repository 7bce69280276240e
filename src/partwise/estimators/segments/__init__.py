"""Segmentation: sequences cut into labelled segments."""
