"""Classification: one label for every example."""
