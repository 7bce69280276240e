"""Few of many labels are enough for the best path: it is that of all of them."""

import numpy as np
import pytest

from partwise.structures.chain.corpus import ChainMask
from partwise.structures.chain.scores import ChainScores
from partwise.structures.chain.staggered import (
    MANY_LABELS,
    make_staggered_space,
    staggered_viterbi,
)
from partwise.structures.chain.viterbi import make_viterbi_space, viterbi

K = MANY_LABELS + 3
LONGEST = 7


def draw(
    rng: np.random.Generator, spread: float, forbid: float = 0.0, whole: bool = False
) -> ChainScores:
    """Draw scores of a sentence, a few labels ahead; whole numbers make ties."""
    length = int(rng.integers(1, LONGEST + 1))
    node = rng.normal(size=(length, K))
    node += spread * (rng.random((length, K)) < 0.05)
    scores = [node, rng.normal(size=(1, K, K)), rng.normal(size=K), rng.normal(size=K)]
    if whole:
        scores = [np.round(own) for own in scores]
    allowed = [
        (rng.random(shape) >= forbid).astype(np.uint8)
        for shape in ((K, K), K, K, (length, K))
    ]
    tokens = allowed[3] if forbid else np.zeros((0, K), np.uint8)
    mask = ChainMask(allowed[0], allowed[1], allowed[2], tokens)
    return ChainScores(*scores, mask, tokens)


@pytest.mark.parametrize("whole", [False, True], ids=["any", "ties"])
@pytest.mark.parametrize("forbid", [0.0, 0.3])
@pytest.mark.parametrize("spread", [6.0, 20.0])
def test_staggered_path_is_the_best_of_all(
    spread: float, forbid: float, whole: bool
) -> None:
    rng = np.random.default_rng(0)
    space, other = make_staggered_space(LONGEST, K), make_viterbi_space(LONGEST, K, 1)
    found = 0
    for _ in range(12):
        given = draw(rng, spread, forbid, whole)
        y, z = (np.zeros(len(given.node), np.int32) for _ in range(2))
        score = staggered_viterbi(given, y, space)
        if score > -np.inf:
            assert score == viterbi(given, z, other)
            assert y.tolist() == z.tolist()
            found += 1
    assert found >= 4, "too little to compare"


def test_staggered_search_gives_up_where_all_labels_are_alike() -> None:
    given = draw(np.random.default_rng(0), 0.0)
    alike = given._replace(
        node=np.zeros((3, K)), transition=np.zeros((1, K, K)), start=np.zeros(K)
    )._replace(end=np.zeros(K))
    space = make_staggered_space(LONGEST, K)
    assert staggered_viterbi(alike, np.zeros(3, np.int32), space) == -np.inf


def test_staggered_search_needs_no_arrays_where_labels_are_few() -> None:
    assert make_staggered_space(LONGEST, MANY_LABELS - 1).label.size == 0


@pytest.mark.parametrize("scale", [2.0**-60, 2.0**60])
def test_staggered_search_has_no_units(scale: float) -> None:
    given = draw(np.random.default_rng(2), 8.0)
    larger = given._replace(
        node=scale * given.node,
        transition=scale * given.transition,
        start=scale * given.start,
        end=scale * given.end,
    )
    space = make_staggered_space(LONGEST, K)
    y, z = (np.zeros(len(given.node), np.int32) for _ in range(2))
    assert staggered_viterbi(larger, z, space) == scale * staggered_viterbi(
        given, y, space
    )
    assert y.tolist() == z.tolist()
