"""The metrics of the CoNLL 2018 shared task, worked out by hand."""

import io

import pytest

from partwise.data import Sentence, read_trees
from partwise.data.surface import text_of
from partwise.errors import DataError
from partwise.metrics import CONLL18_METRICS, conll18_scores


def read(*sentences: str) -> list[Sentence]:
    """Read sentences of lines ``id form lemma upos feats head deprel``."""
    lines = []
    for sentence in sentences:
        for line in sentence.strip().splitlines():
            number, form, *cells = line.split()
            lemma, upos, feats, head, label = cells or ["_"] * 5
            cells = [number, form, lemma, upos, upos.lower(), feats, head, label]
            lines.append("\t".join([*cells, "_", "_"]))
        lines.append("")
    return read_trees(io.StringIO("\n".join(lines) + "\n"), "conllu")


DOGS = """
1 The the DET Definite=Def 2 det
2 dogs dog NOUN Number=Plur 3 nsubj
3 bark bark VERB VerbForm=Fin|Style=Arch 0 root
4 . . PUNCT _ 3 punct
"""


def counts(gold: list[Sentence], system: list[Sentence], name: str) -> tuple[int, ...]:
    score = conll18_scores(gold, system)[name]
    return score.right, score.gold, score.system


def test_conll18_of_the_right_annotation_is_one() -> None:
    gold = read(DOGS, DOGS)
    scores = conll18_scores(gold, gold)
    assert {name: scores[name].f1 for name in CONLL18_METRICS} == dict.fromkeys(
        CONLL18_METRICS, 1.0
    )
    assert set(scores.to_dict()) == set(CONLL18_METRICS)


# One thing is changed, and only the metrics that see it fall. Of the four words, two
# are content words (nsubj, root).
ONE_CHANGE = {
    ("DET", "PRON"): {"upos": 3, "xpos": 3, "alltags": 3, "mlas": 1},
    ("VERB", "AUX"): {"upos": 3, "xpos": 3, "alltags": 3, "mlas": 1},
    ("Definite=Def", "_"): {"ufeats": 3, "alltags": 3, "mlas": 1},
    ("dog NOUN", "dogs NOUN"): {"lemmas": 3, "blex": 1},
    # Not one of the universal features, and a subtype: neither counts.
    ("|Style=Arch", "|Style=Coll"): {},
    ("nsubj", "nsubj:pass"): {},
    ("nsubj", "obj"): {"las": 3, "clas": 1, "mlas": 1, "blex": 1},
    # The article is no content word, but a functional child of one.
    ("2 det", "3 det"): {"uas": 3, "las": 3, "mlas": 0},
    # Still attached to the noun, with a relation that is not functional.
    ("2 det", "2 punct"): {"las": 3, "mlas": 1},
}


@pytest.mark.parametrize("change", ONE_CHANGE)
def test_conll18_metrics_see_what_they_are_about(change: tuple[str, str]) -> None:
    gold, system = read(DOGS), read(DOGS.replace(*change))
    full = dict.fromkeys(CONLL18_METRICS, 4) | {"sentences": 1}
    full |= dict.fromkeys(("clas", "mlas", "blex"), 2)
    found = {name: counts(gold, system, name)[0] for name in CONLL18_METRICS}
    assert found == full | ONE_CHANGE[change]


def test_conll18_tokens_that_are_cut_differently() -> None:
    gold = read("1 ab ab X _ 2 dep\n2 cd cd Y _ 0 root\n3 e e Z _ 2 obj")
    system = read(
        "1 a a X _ 3 dep\n2 b b X _ 3 dep\n3 cd cd Y _ 0 root\n4 e e Z _ 2 obj"
    )
    # cd and e are on both sides; the head of e is cd here, and b, not aligned, there.
    assert counts(gold, system, "tokens") == (2, 3, 4)
    assert counts(gold, system, "words") == (2, 3, 4)
    assert counts(gold, system, "upos") == (2, 3, 4)
    assert counts(gold, system, "las") == counts(gold, system, "clas") == (1, 3, 4)
    score = conll18_scores(gold, system)["las"]
    assert (score.precision, score.recall, score.f1) == (1 / 4, 1 / 3, 2 / 7)
    assert score.aligned_accuracy == 1 / 2


def test_conll18_sentences_that_are_cut_differently() -> None:
    one = "1 a a X _ 0 root\n2 b b X _ 1 obj\n3 c c X _ 1 obj"
    gold = read("1 a a X _ 0 root\n2 b b X _ 1 obj", "1 c c X _ 0 root")
    # Two right and one predicted sentence, no two alike. c is a root, and is not.
    assert counts(gold, read(one), "sentences") == (0, 2, 1)
    assert counts(gold, read(one), "tokens") == (3, 3, 3)
    assert counts(gold, read(one), "uas") == (2, 3, 3)


DONT = """
1-2 Don't
1 Do do AUX _ 3 aux
2 n't not PART _ 3 advmod
3 go go VERB _ 0 root
"""


def test_conll18_words_of_multiword_tokens_are_aligned_by_form() -> None:
    gold = read(DONT)
    other = read(DONT.replace("2 n't", "2 not"))
    assert counts(gold, other, "tokens") == (2, 2, 2)
    # Do and go are aligned, n't and not are not; case does not count.
    assert counts(gold, other, "words") == (2, 3, 3)
    assert counts(gold, read(DONT.replace("1 Do", "1 do")), "words") == (3, 3, 3)
    # The tree of go: its head is right, and Do is the one functional child.
    assert counts(gold, other, "mlas") == (1, 2, 2)


def test_conll18_multiword_tokens_against_plain_ones() -> None:
    gold = read(DONT)
    # "Do", "n't": the same words, though no tokens; both stand for the multiword token.
    apart = read(DONT.replace("1-2 Don't\n", ""))
    assert counts(gold, apart, "tokens") == (1, 2, 3)
    assert counts(gold, apart, "words") == (3, 3, 3)
    assert counts(apart, gold, "words") == (3, 3, 3)
    # One token that is one word: none of its words are those of the multiword token.
    whole = read("1 Don't do AUX _ 2 aux\n2 go go VERB _ 0 root")
    assert counts(gold, whole, "words") == (1, 3, 2)
    # A token that begins before the multiword token and ends in it, and the rest.
    shifted = read(
        "1 Don do AUX _ 3 aux\n2 't not PART _ 3 advmod\n3 go go VERB _ 0 root"
    )
    assert counts(gold, shifted, "words") == (1, 3, 3)


def test_conll18_longest_common_words_are_found() -> None:
    gold = read("1-3 xyx\n1 x x X _ 0 root\n2 y y X _ 1 dep\n3 x x X _ 1 dep")
    system = read("1-2 xyx\n1 y y X _ 0 root\n2 x x X _ 1 dep")
    # y x is common to both; the first x is nobody's.
    assert counts(gold, system, "words") == (2, 3, 2)
    # y hangs from the root there and from the first x here; x from y, and from x.
    assert counts(gold, system, "uas") == (0, 3, 2)


# Everything at once: tokens cut differently, multiword tokens on one side or both, a
# sentence that goes on. The counts are those of the official program of the task.
MUDDLE = (
    (
        """
1-2 Dont
1 Do do AUX Mood=Imp|Odd=1 3 aux
2 nt not PART Polarity=Neg 3 advmod
3 gohome go VERB VerbForm=Inf 0 root
4 ! ! PUNCT _ 3 punct
""",
        """
1 The the DET Definite=Def 2 det
2-3 cats'
2 cats cat NOUN Number=Plur 4 nmod:poss
3 ' 's PART _ 2 case
4 tail tail NOUN Number=Sing 5 nsubj
5 is be AUX Tense=Pres 0 root
6 wet wet ADJ Degree=Pos 5 xcomp
""",
    ),
    (
        """
1-2 Dont
1 do do AUX Mood=Imp|Odd=2 3 aux
2 Not not PART Polarity=Neg 3 advmod
3 go go VERB VerbForm=Inf 0 root
4 home home ADV _ 3 advmod
5 ! ! PUNCT _ 3 punct
6 The a DET Definite=Def 8 det
7-8 cats'
7 cats cat NOUN Number=Sing 9 nmod
8 's 's PART _ 7 case
9 tail tail NOUN Number=Sing 3 nsubj
""",
        """
1-2 iswet
1 is be AUX Tense=Pres 2 cop
2 wet wet ADJ Degree=Pos 0 root
""",
    ),
)
OFFICIAL = {
    "tokens": (5, 8, 8),
    "sentences": (0, 2, 2),
    "words": (7, 10, 11),
    "upos": (7, 10, 11),
    "xpos": (7, 10, 11),
    "ufeats": (6, 10, 11),
    "alltags": (6, 10, 11),
    "lemmas": (6, 10, 11),
    "uas": (1, 10, 11),
    "las": (1, 10, 11),
    "clas": (1, 6, 6),
    "mlas": (0, 6, 6),
    "blex": (1, 6, 6),
}


def test_conll18_agrees_with_the_official_program() -> None:
    gold, system = (read(*side) for side in MUDDLE)
    assert {name: counts(gold, system, name) for name in OFFICIAL} == OFFICIAL
    assert conll18_scores(gold, system)["clas"].aligned == 4


def test_conll18_lemmas_that_are_not_given_count_as_right() -> None:
    gold = read(DOGS.replace("dog NOUN", "_ NOUN"))
    assert counts(gold, read(DOGS), "lemmas") == (4, 4, 4)
    assert counts(gold, read(DOGS), "blex") == (2, 2, 2)
    assert counts(read(DOGS), gold, "lemmas") == (3, 4, 4)


def test_conll18_white_space_inside_tokens_does_not_count() -> None:
    spaced = read("1 10000 _ NUM _ 0 root")
    with_space = read_trees(
        io.StringIO("1\t10 000\t_\tNUM\tnum\t_\t0\troot\t_\t_\n"), "conllu"
    )
    assert counts(spaced, with_space, "tokens") == (1, 1, 1)


def test_conll18_refuses_other_texts() -> None:
    with pytest.raises(DataError, match=r"from character 3 on .*'dogsbark\.' is right"):
        conll18_scores(read(DOGS), read(DOGS.replace("dogs", "cats")))
    with pytest.raises(DataError, match="from character 12 on"):
        conll18_scores(read(DOGS), read(DOGS, DOGS))


def test_text_of_a_treebank_follows_its_entries_and_comments() -> None:
    rest = "\t_" * 7
    text = (
        f"# newpar\n# text = Hi, you!\n1\tHi{rest}\t_\n2\t,{rest}\t_\n3\tyou{rest}\t_\n"
        f"4\t!{rest}\tSpacesAfter=\\s\\s\n\n# newpar\n1\tNo{rest}\tSpaceAfter=No\n"
        f"2\t.{rest}\t_\n\n"
    )
    assert text_of(read_trees(io.StringIO(text))) == "Hi, you!  \n\nNo."
