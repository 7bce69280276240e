"""Generated data for demonstrations, tests and first experiments.

Everything here is invented, seeded and the same on every machine, so that an
example can be run anywhere without downloading anything:

- `make_corpus`: sentences with tags, chunks, entities, dependencies and trees;
- `make_addresses`: postal addresses, every token labelled;
- `make_letters`: words written in noisy bitmaps, one letter per row;
- `make_classes`: sparse examples of a few classes;
- `make_lattices`: word lattices with their right paths.
"""

from partwise.synthetic.addresses import make_addresses
from partwise.synthetic.classes import make_classes
from partwise.synthetic.corpus import Corpus, Sentence, make_corpus
from partwise.synthetic.grammar import Tree
from partwise.synthetic.lattices import make_lattices
from partwise.synthetic.letters import make_letters

__all__ = [
    "Corpus",
    "Sentence",
    "Tree",
    "make_addresses",
    "make_classes",
    "make_corpus",
    "make_lattices",
    "make_letters",
]
