"""A few sentences of an invented treebank, with everything a pipeline learns from."""

import io

from partwise.data import Sentence, read_trees

_SENTENCES = """\
# newpar
# text = The dogs bark.
The the DET DT Definite=Def 2 det _
dogs dog NOUN NNS Number=Plur 3 nsubj _
bark bark VERB VBP Tense=Pres 0 root SpaceAfter=No
. . PUNCT . _ 3 punct _

# text = Cats don't bark!
Cats cat NOUN NNS Number=Plur 4 nsubj _
don't do+n't
do do AUX VBP Tense=Pres 4 aux _
n't not PART RB Polarity=Neg 4 advmod _
bark bark VERB VB VerbForm=Inf 0 root SpaceAfter=No
! ! PUNCT . _ 4 punct _

# newpar
# text = A dog isn't a cat.
A a DET DT Definite=Ind 2 det _
dog dog NOUN NN Number=Sing 6 nsubj _
isn't is+n't
is be AUX VBZ Tense=Pres 6 cop _
n't not PART RB Polarity=Neg 6 advmod _
a a DET DT Definite=Ind 6 det _
cat cat NOUN NN Number=Sing 0 root SpaceAfter=No
. . PUNCT . _ 6 punct _

# text = The cats slept.
The the DET DT Definite=Def 2 det _
cats cat NOUN NNS Number=Plur 3 nsubj _
slept sleep VERB VBD Tense=Past 0 root SpaceAfter=No
. . PUNCT . _ 3 punct _

"""


def tiny_text() -> str:
    """Return the treebank as CoNLL-U."""
    lines = []
    number = 0
    for line in _SENTENCES.splitlines():
        cells = line.split()
        if not cells or line.startswith("#"):
            lines.append(line)
            number = 0
        elif len(cells) == 2:
            first, last = number + 1, number + 1 + cells[1].count("+")
            lines.append("\t".join([f"{first}-{last}", cells[0], *"________"]))
        else:
            number += 1
            *columns, misc = cells
            lines.append("\t".join([str(number), *columns, "_", misc]))
    return "\n".join(lines) + "\n"


def tiny_treebank(copies: int = 3) -> list[Sentence]:
    """Return the treebank, repeated."""
    return read_trees(io.StringIO(tiny_text() * copies), "conllu")
