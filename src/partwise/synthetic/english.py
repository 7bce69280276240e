"""A small grammar of an English-like language.

It has what makes real text hard: words of several tags, prepositional phrases
that could attach to a noun or a verb, coordination at two levels, relative
clauses with and without a relative pronoun, reduced relatives that look like
past tense, and, in some sentences, a phrase moved so far that arcs cross.

Prepositions and subordinating conjunctions head their phrases; auxiliaries
depend on the main verb. See `partwise.synthetic.grammar` for the notation.
"""

from __future__ import annotations

from functools import cache

from partwise.synthetic.grammar import HeadedGrammar
from partwise.synthetic.lexicon import english_lexicon

# In the last four rules of S a dependent stands far from its head: arcs cross.
CLAUSES = """
S           62   _CLAUSE* ./punct
S            6   PP-v/obl ,/punct _CLAUSE* ./punct
S            3   PP-v/obl _CLAUSE* ./punct
S            5   ADVP/advmod ,/punct _CLAUSE* ./punct
S            2   NP-time/tmod _CLAUSE* ./punct
S            5   SBAR-adv/advcl ,/punct _CLAUSE* ./punct
S            9   S-emb* ,/punct CC/cc S-emb/conj ./punct
S            3   S-emb* CC/cc S-emb/conj ./punct
S            0.5 NP-top/obj@ccomp ,/punct _SUB-#/nsubj VP-bridge-#* ./punct
S            0.5 NP-top/obj@ccomp _SUB-#/nsubj VP-bridge-#* ./punct
S            0.8 NP-ext-#/nsubj VP-short-#* SBAR-who-#/acl@nsubj ./punct
S            0.6 NP-ext-#/nsubj VP-short-#* PP-of/nmod@nsubj ./punct

S-emb        1   _CLAUSE*
_CLAUSE     22   _SUB-#/nsubj VP-#*
_CLAUSE      2   _SUB-#/nsubj ADVP/advmod VP-#*
_SUB-#      70   NP-#*
_SUB-#      24   NP-pro-#*
_SUB-s       3   NP-long*

S-inf        1   VP-inf*
S-gap        1   _SUB-#/nsubj VP-gap-#*
S-rel-#      1   VP-#*
SBAR-that    1   IN-that* S-emb/comp
SBAR-adv     1   IN-sub* S-emb/comp
SBAR-who-#   1   NP-wh/nsubj S-rel-#*
SBAR-rel-#   6   NP-wh/nsubj S-rel-#*
SBAR-rel-#   3   NP-wh/obj S-gap*
SBAR-rel-#   3   S-gap*
"""

NOUN_PHRASES = """
_OBJ        50   NP-s*
_OBJ        44   NP-p*
_OBJ         9   NP-him*

NP-s        28   DT-s/det NN*
NP-s        15   DT-s/det JJ/amod NN*
NP-s         3   DT-s/det ADJP-pre/amod NN*
NP-s         3   DT-s/det JJ/amod JJ/amod NN*
NP-s         6   DT-s/det NN/compound NN*
NP-s         2   DT-s/det JJ/amod NN/compound NN*
NP-s         2   DT-s/det VBG-t/amod NN*
NP-s         2   DT-s/det VBN-t/amod NN*
NP-s         2   DT-s/det JJ/amod CC-and/cc JJ/conj NN*
NP-s         4   NN*
NP-s         3   JJ/amod NN*
NP-s        11   =PER*
NP-s         5   =LOC*
NP-s         5   =ORG*
NP-s         2   NN-title/compound =PER*
NP-s         2   DT-s/det =ORG/compound NN*
NP-s         3   DT-s/det =LOC/compound NN*
NP-s         4   NP-owner/poss NN*
NP-s         2   NP-owner/poss JJ/amod NN*
NP-s         4   PRP$/poss NN*
NP-s         2   PRP$/poss JJ/amod NN*
NP-s        20   NP-s* PP-n/nmod
NP-s         5   NP-s* SBAR-rel-s/acl
NP-s         2   NP-s* VP-reduced/acl

NP-p        14   NNS*
NP-p        13   JJ/amod NNS*
NP-p        14   DT-p/det NNS*
NP-p         7   DT-p/det JJ/amod NNS*
NP-p         7   CD/nummod NNS*
NP-p         3   CD/nummod JJ/amod NNS*
NP-p         3   QP/nummod NNS*
NP-p         5   NN/compound NNS*
NP-p         3   DT-p/det NN/compound NNS*
NP-p         2   VBG-t/amod NNS*
NP-p         2   VBN-t/amod NNS*
NP-p         3   NP-owner/poss NNS*
NP-p         4   PRP$/poss NNS*
NP-p         3   NNS* CC-and/cc NNS/conj
NP-p         2   DT-p/det NNS* CC-and/cc NNS/conj
NP-p        15   NP-p* PP-n/nmod
NP-p         5   NP-p* SBAR-rel-p/acl
NP-p         2   NP-p* VP-reduced/acl
NP-p         4   NP-s* CC-and/cc NP-s/conj
NP-p         3   NP-p* CC-and/cc NP-p/conj
NP-p         1   NP-s* ,/punct NP-s/conj CC-and/cc NP-s/conj

=PER         6   NNP-first/compound NNP-last*
=PER         4   NNP-last*
=PER         2   NNP-first*
=PER         1   NNP-title/compound NNP-last*
=LOC         6   NNP-place*
=LOC         2   NNP-compass/compound NNP-place*
=ORG         4   NNP-last/compound NNP-firm*
=ORG         2   NNP-last/compound NNP-last/compound NNP-firm*
=ORG         2   NNP-place/compound NNP-body*
=ORG         3   NNP-letters*

NP-owner     3   DT-s/det NN* POS/case
NP-owner     2   DT-s/det JJ/amod NN* POS/case
NP-owner     3   =PER* POS/case
NP-owner     2   =ORG* POS/case
NP-long      1   NP-s* ,/punct NP-app/appos ,/punct
NP-app       2   DT-s/det NN*
NP-app       1   DT-s/det JJ/amod NN*
NP-app       1   DT-s/det NN* PP-of/nmod
NP-top       3   DT-s/det NN*
NP-top       2   DT-s/det JJ/amod NN*
NP-ext-s     2   DT-s/det NN*
NP-ext-s     1   DT-s/det JJ/amod NN*
NP-ext-p     2   NNS*
NP-ext-p     1   JJ/amod NNS*
NP-time      3   NN-day*
NP-time      2   JJ-time/amod NN-time*
NP-time      1   JJ-time/amod NNP-day*
NP-month     1   NNP-month*
NP-month     1   NNP-month* CD-year/nummod
NP-month     1   CD-year*
NP-weekday   1   NNP-day*
NP-pro-s     1   PRP-s*
NP-pro-p     1   PRP-p*
NP-him       1   PRP-o*
NP-wh        3   WDT*
NP-wh        2   WP*
QP           2   RB-about/advmod CD*
QP           1   CD* CC-or/cc CD/conj
"""

VERB_PHRASES = """
_V-%-s      30   VBZ-%*
_V-%-p      30   VBP-%*
_V-%-#      45   VBD-%*
_V-%-#      12   MD/aux VB-%*
_V-%-#       2   MD/aux ADVP-mid/advmod VB-%*
_V-%-#       2   MD/aux RB-not/advmod VB-%*
_V-%-s       6   VBZ-have/aux VBN-%*
_V-%-p       6   VBP-have/aux VBN-%*
_V-%-s       2   VBZ-have/aux ADVP-mid/advmod VBN-%*
_V-%-p       2   VBP-have/aux ADVP-mid/advmod VBN-%*
_V-%-s       5   _BE-s/aux VBG-%*
_V-%-p       5   _BE-p/aux VBG-%*
_V-%-#       3   VBD-do/aux RB-not/advmod VB-%*
_V-%-#       1   MD/aux VB-have/aux VBN-%*

_BE-s        1   VBZ-be*
_BE-p        1   VBP-be*
_BE-#        1   VBD-be-#*
_IS-#        9   _BE-#*
_IS-#        2   MD/aux VB-be*
_IS-#        2   _BE-#* RB-not/advmod
_PASSIVE-#   8   _BE-#/aux VBN-t*
_PASSIVE-#   3   MD/aux VB-be/aux VBN-t*
_PASSIVE-#   2   _BE-#/aux ADVP-mid/advmod VBN-t*

VP-#        26   _V-t-#* _OBJ/obj
VP-#        20   _V-t-#* _OBJ/obj PP-v/obl
VP-#         4   _V-t-#* _OBJ/obj NP-time/tmod
VP-#         3   _V-t-#* _OBJ/obj ADVP/advmod
VP-#         7   _V-t-#* _OBJ/obj PP-v/obl PP-v/obl
VP-#         3   _V-i-#* PP-v/obl PP-v/obl
VP-#         3   _V-t-#* PRT/prt _OBJ/obj
VP-#         2   _V-t-#* NP-him/obj PRT/prt
VP-#         2   _V-t-#* _OBJ/obj SBAR-adv/advcl
VP-#         5   _V-i-#*
VP-#        12   _V-i-#* PP-v/obl
VP-#         4   _V-i-#* ADVP/advmod
VP-#         3   _V-i-#* ADVP/advmod PP-v/obl
VP-#         3   _V-i-#* PRT/prt PP-v/obl
VP-#         3   _V-i-#* NP-time/tmod
VP-#         4   _V-d-#* _OBJ/iobj _OBJ/obj
VP-#         4   _V-d-#* _OBJ/obj PP-to/obl
VP-#         6   _V-c-#* SBAR-that/ccomp
VP-#         4   _V-c-#* S-emb/ccomp
VP-#         7   _V-o-#* S-inf/xcomp
VP-#         7   _IS-#* ADJP/xcomp
VP-#         3   _IS-#* _OBJ/xcomp
VP-#         3   _IS-#* PP-v/obl
VP-#         5   _PASSIVE-#*
VP-#         5   _PASSIVE-#* PP-by/obl
VP-#         5   _PASSIVE-#* PP-v/obl
VP-#         4   VP-#* CC/cc VP-#/conj

VP-short-#   3   _V-i-#*
VP-short-#   2   _V-i-#* ADVP/advmod
VP-short-#   2   _V-i-#* NP-time/tmod
VP-bridge-#  1   _V-c-#* S-gap/ccomp
VP-gap-#     4   _V-t-#*
VP-gap-#     1   _V-t-#* PP-v/obl
VP-inf       5   TO/mark VB-t* _OBJ/obj
VP-inf       3   TO/mark VB-t* _OBJ/obj PP-v/obl
VP-inf       3   TO/mark VB-i* PP-v/obl
VP-inf       2   TO/mark VB-i*
VP-inf       1   TO/mark ADVP-mid/advmod VB-t* _OBJ/obj
VP-inf       1   TO/mark VB-be* ADJP/xcomp
VP-reduced   3   VBN-t* PP-by/obl
VP-reduced   2   VBN-t* PP-v/obl
VP-reduced   3   VBG-t* _OBJ/obj
VP-reduced   2   VBG-i* PP-v/obl
VP-gerund    1   VBG-t* _OBJ/obj

PP-v        20   IN-v* _OBJ/comp
PP-v         3   IN-in* NP-month/comp
PP-v         3   IN-on* NP-weekday/comp
PP-v         2   IN-by* VP-gerund/comp
PP-v         1   RB-about/advmod IN-v* _OBJ/comp
PP-n         9   IN-of* _OBJ/comp
PP-n         8   IN-n* _OBJ/comp
PP-of        1   IN-of* _OBJ/comp
PP-to        1   TO* _OBJ/comp
PP-by        1   IN-by* _OBJ/comp
PRT          1   RP*
ADVP         6   RB*
ADVP         1   RB-degree/advmod RB*
ADVP         1   RB-manner*
ADVP-mid     1   RB*
ADJP         5   JJ*
ADJP         3   RB-degree/advmod JJ*
ADJP         2   JJ* PP-n/obl
ADJP         1   JJ* CC-and/cc JJ/conj
ADJP         1   VBN-t*
ADJP-pre     3   RB-degree/advmod JJ*
ADJP-pre     1   RB/advmod VBN-t*
"""


@cache
def english() -> HeadedGrammar:
    """Return the grammar with its lexicon, built on first use.

    Examples
    --------
    >>> english().start
    'S'
    """
    return HeadedGrammar(CLAUSES + NOUN_PHRASES + VERB_PHRASES, english_lexicon())
