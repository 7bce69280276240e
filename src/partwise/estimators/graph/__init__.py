"""Graph labelling: a label for every node."""
