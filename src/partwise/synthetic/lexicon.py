"""The words of the English-like grammar, by tag and hidden class.

The most frequent words are real; behind them come invented ones, thousands of
them, so that any held-out text has words the training text has not. Many words
belong to several tables: *report* is a noun and a verb, *that* a determiner, a
conjunction and a relative pronoun, *Ashford* a person and a place.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from partwise.synthetic.coinage import add_ed, add_ing, add_ly, add_s, capitalised, coin
from partwise.synthetic.draws import Table

NOUNS = """
year company government market city school family house book student country
question story doctor river garden teacher price paper village letter bank
child window engine system player minister song friend farmer lawyer
kitchen theory bridge artist museum picture judge street law army church hotel
ticket animal team model court road car train ship island forest mountain office
police union industry economy science history power policy project problem result
reason number party budget loan tax crop horse tree bird machine computer network
""".split()

NOUNS_OR_VERBS = """
report plan work offer call change play cost need study visit deal order move
watch answer test trade support demand guide record attack claim bid rise cut
fund vote walk talk cook paint train fire film name cause damage drink fish help
hope judge land lift line load mark match mind note pack park pay place point
produce program promise protest race rent rest return ride risk search share ship
show sign sound stand start stop store stress tour track turn use view wish
""".split()

NOUNS_OR_ADJECTIVES = """
official chief novel cold light present patient native secret public human local
criminal expert standard female male extreme ideal green
""".split()

ADJECTIVES = """
new old big small good large young early late long high low important difficult
strong quiet rich poor happy famous foreign military economic political heavy dark
bright rapid modern ancient serious careful empty clean dry daily fast hard
""".split()

ADVERBS = """
also often never still already quickly recently now soon here early again slowly
once later there together always perhaps
""".split()

TRANSITIVE = """
buy sell see find make take hold keep build read write meet lead win lose
open close carry follow describe publish discover destroy repair admire accept
reject protect join replace examine improve reduce raise design create remove
""".split()

INTRANSITIVE = """
arrive appear wait sleep go come fall grow live stay happen wander swim travel
vanish laugh hesitate emerge collapse return disappear work walk talk rest move
""".split()

DITRANSITIVE = "give send show offer lend hand teach sell tell pay promise".split()
CLAUSAL = """
say think believe know claim hope suggest report argue admit feel note insist
""".split()
TO_INFINITIVE = """
want try plan hope decide refuse need agree promise manage intend fail wish
""".split()

IRREGULAR = {
    # base: (past, past participle)
    "buy": ("bought", "bought"),
    "sell": ("sold", "sold"),
    "see": ("saw", "seen"),
    "find": ("found", "found"),
    "make": ("made", "made"),
    "take": ("took", "taken"),
    "hold": ("held", "held"),
    "keep": ("kept", "kept"),
    "build": ("built", "built"),
    "read": ("read", "read"),
    "write": ("wrote", "written"),
    "meet": ("met", "met"),
    "lead": ("led", "led"),
    "win": ("won", "won"),
    "lose": ("lost", "lost"),
    "go": ("went", "gone"),
    "come": ("came", "come"),
    "fall": ("fell", "fallen"),
    "grow": ("grew", "grown"),
    "swim": ("swam", "swum"),
    "give": ("gave", "given"),
    "send": ("sent", "sent"),
    "show": ("showed", "shown"),
    "lend": ("lent", "lent"),
    "teach": ("taught", "taught"),
    "tell": ("told", "told"),
    "pay": ("paid", "paid"),
    "say": ("said", "said"),
    "think": ("thought", "thought"),
    "know": ("knew", "known"),
    "feel": ("felt", "felt"),
    "bid": ("bid", "bid"),
    "cut": ("cut", "cut"),
    "rise": ("rose", "risen"),
    "cost": ("cost", "cost"),
    "deal": ("dealt", "dealt"),
    "drink": ("drank", "drunk"),
    "ride": ("rode", "ridden"),
    "sleep": ("slept", "slept"),
    "stand": ("stood", "stood"),
    "visit": ("visited", "visited"),
}

# Classes of few words, as they are: a symbol, then words from frequent to rare.
CLOSED = """
DT-s          the a this that every another no each
DT-p          the these some all those many several no both few
IN-v          in with on at from for after under during against into by over
IN-n          in for from with on about between against near behind
IN-of         of
IN-by         by
IN-in         in since before
IN-on         on
IN-that       that
IN-sub        because when while if although after before since until as
TO            to
RP            up out off down over away back
CC            and but or
CC-and        and or
CC-or         or
MD            will can would could may should must might
RB-degree     very too quite rather extremely
RB-manner     fast hard well late early daily
RB-about      about only nearly just almost
RB-not        not
VBZ-be        is
VBP-be        are
VBD-be-s      was
VBD-be-p      were
VB-be         be
VBZ-have      has
VBP-have      have
VB-have       have
VBD-do        did
PRP-s         he it she
PRP-p         they we you I
PRP-o         it them him her us me you
PRP$          his her their its our my
WDT           that which
WP            who
POS           's
,             ,
.             .
JJ-time       last next this
NN-time       week year month morning night summer season
NN-day        yesterday today tomorrow
NN-title      minister doctor judge farmer lawyer
NNP-day       Monday Friday Sunday Tuesday Thursday Wednesday Saturday
NNP-month     May March June April August January October September July
NNP-title     Mr. Mrs. Dr. Judge President
NNP-compass   North South New West East Port Lake
NNP-firm      Corp. Inc. Group Bank Partners Press Motors Company
NNP-body      University Museum Times Court Council Bank Institute
"""

FIRST_NAMES = """
Anna Tom Maria Peter Clara Ben Nora Paul Ida Hugo Mark June May Grace Rose Victor
Frank Jack Sonia Omar Leila Ravi Mei Ken Olga Ivan Petra Nils Asha Bruno Carmen Dora
""".split()

NOUN_ENDINGS = ("", "", "er", "ment", "tion", "ity", "ness", "age", "ism", "ing", "al")
VERB_ENDINGS = ("", "", "", "ise", "ify", "ate", "en")
ADJECTIVE_ENDINGS = ("", "al", "ous", "ive", "ic", "able", "y", "ish", "ed", "ing")
SURNAME_ENDINGS = ("", "son", "ley", "ford", "man", "er", "ton", "berg", "ini")
PLACE_ENDINGS = ("ford", "ton", "ville", "burg", "ia", "land", "mouth", "", "ley")


def english_lexicon() -> dict[str, Table[str]]:
    """Return the words of every tag and class, frequent ones first.

    Examples
    --------
    >>> english_lexicon()["TO"].items
    ('to',)
    """
    # Bare invented stems serve as nouns and as verbs, as so many words do.
    stems = coin(700, seed=1)
    nouns = _ranked(NOUNS, NOUNS_OR_VERBS) + NOUNS_OR_ADJECTIVES
    nouns += _ranked(coin(1100, 2, NOUN_ENDINGS), stems[:500])
    invented_verbs = _ranked(coin(300, 3, VERB_ENDINGS), stems[300:])
    adjectives = _ranked(ADJECTIVES, NOUNS_OR_ADJECTIVES)
    adjectives += coin(500, 4, ADJECTIVE_ENDINGS)
    places = capitalised(coin(400, 5, PLACE_ENDINGS))
    surnames = _ranked(capitalised(coin(700, 6, SURNAME_ENDINGS)), places[:150])
    letters = [word.upper() for word in coin(200, 7, syllables=1) if len(word) < 5]

    tables = {}
    for line in CLOSED.strip().splitlines():
        symbol, *words = line.split()
        # Few words, and the first of them far ahead: steeper than Zipf's law.
        weights = [1.0 / ((rank + 1) * (rank + 2)) for rank in range(len(words))]
        tables[symbol] = Table(words, weights)
    tables |= {
        "NN": Table(nouns),
        "NNS": Table([add_s(noun) for noun in nouns]),
        "JJ": Table(adjectives),
        "RB": Table(ADVERBS + [add_ly(word) for word in adjectives[5::2]]),
        "CD": Table(["two", "three", "one", "ten", "five", *_numbers()]),
        "CD-year": Table([str(year) for year in range(2009, 1900, -1)]),
        "NNP-first": Table(FIRST_NAMES + capitalised(coin(300, 8, ("", "a", "o")))),
        "NNP-last": Table(surnames),
        "NNP-place": Table(places),
        "NNP-letters": Table(letters),
    }
    transitive = _ranked(TRANSITIVE, NOUNS_OR_VERBS) + invented_verbs[:450]
    intransitive = _ranked(INTRANSITIVE, NOUNS_OR_VERBS[::3]) + invented_verbs[300:]
    classes = {
        "t": transitive,
        "i": intransitive,
        "d": DITRANSITIVE,
        "c": CLAUSAL,
        "o": TO_INFINITIVE,
    }
    for name, verbs in classes.items():
        tables |= _inflected(name, verbs)
    return tables


def _inflected(name: str, verbs: Sequence[str]) -> dict[str, Table[str]]:
    """Return a class of verbs under its six tags."""
    regular = {verb: (add_ed(verb), add_ed(verb)) for verb in verbs}
    pasts = [IRREGULAR.get(verb, regular[verb]) for verb in verbs]
    forms = {
        "VB": verbs,
        "VBP": verbs,
        "VBZ": ["goes" if verb == "go" else add_s(verb) for verb in verbs],
        "VBD": [past for past, _ in pasts],
        "VBN": [participle for _, participle in pasts],
        "VBG": [add_ing(verb) for verb in verbs],
    }
    return {f"{tag}-{name}": Table(words) for tag, words in forms.items()}


def _ranked(*lists: Sequence[str]) -> list[str]:
    """Take from the lists in turn, so that each gets its share of high ranks."""
    merged: dict[str, None] = {}
    for row in zip_longest(*lists):
        merged.update((word, None) for word in row if word is not None)
    return list(merged)


def _numbers() -> list[str]:
    """Return numbers as they stand in text: 20, 3.5, 12,000 and so on."""
    small = [str(number) for number in range(2, 100)]
    decimals = [f"{number // 10}.{number % 10}" for number in range(11, 200, 7)]
    large = [f"{number:,}" for number in range(1100, 90000, 700)]
    return _ranked(small, decimals, large)
