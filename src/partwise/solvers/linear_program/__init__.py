"""The hinge with the L1 norm: a linear program whose rows are found on the way."""
