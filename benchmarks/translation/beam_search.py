"""Beam search for translations in which only adjacent phrases change places.

The sentence is translated from left to right, but for a phrase that may be skipped and
follows right after its neighbour. What two beginnings of a translation share, the next
search step and the two words that the language model sees, makes them one node of a
lattice, and both ways to it stay as its edges; of the nodes with equally many words
translated the most promising are followed.

A phrase has probabilities for how the next one follows. For edges to know it, a node
says what is to come: `GO_ON` with the next word, or `SKIP` some first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.translation.dense_features import (
    BACKWARD,
    DISTORTION,
    FORWARD,
    LANGUAGE_MODEL,
    N_DENSE,
)
from benchmarks.translation.extraction import DISCONTINUOUS, MONOTONE, SWAP
from benchmarks.translation.language_model import LanguageModel, log_probability
from benchmarks.translation.options import Options
from benchmarks.translation.outlook import estimate_options, promise_spans
from benchmarks.translation.search_edges import (
    BACK,
    DEAD,
    FAR,
    FORTH,
    FROM,
    KEY,
    LINK,
    LM,
    OPTION,
    OWN,
    SHIFT,
    TO,
    TOTAL,
    Edges,
    add_edge,
    keep_best,
    with_room,
)
from benchmarks.translation.vocabulary import BEGIN, END, WIDTH, IntArray
from partwise import kernel

FloatArray = NDArray[np.float64]

# What may follow a node: the next word after a phrase in order, the next word after an
# exchange, a phrase farther on, or the phrase that was skipped.
GO_ON, RETURNED, SKIP, FILL = 0, 1, 2, 3

NO_OPTION = -1


class Limits(NamedTuple):
    """How wide the search is, and how large its lattices are.

    Attributes
    ----------
    stack : int
        Nodes that are followed, of those with equally many words translated.
    width : float
        How much less than the best of them a node may promise.
    edges : int
        Edges kept for every word of the sentence, those on the best paths.
    """

    stack: int = 40
    width: float = 4.0
    edges: int = 40


class Found(NamedTuple):
    """A lattice: edges in topological order; node 0 is the start, the last the end.

    `option` yields the words of an edge, but `NO_OPTION` only ends the sentence.
    `covered` counts the source words it translates, `history` has the two words before
    each node.
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    option: IntArray
    backward: IntArray
    forward: IntArray
    distance: IntArray
    covered: IntArray
    language_model: FloatArray
    history: IntArray


class _Task(NamedTuple):
    """What stays the same: the sentence, the models, and what they promise.

    `fixed` is what an option scores anywhere, `rests` what spans promise.
    """

    options: Options
    longest: int
    model: LanguageModel
    w: FloatArray
    fixed: FloatArray
    rests: FloatArray
    width: float


COVERED, GAP_BEGIN, GAP_END, NEXT, BEFORE, LAST = range(6)


@kernel
def _continue(
    edges: Edges,
    stacks: tuple[IntArray, FloatArray],
    node: int,
    state: IntArray,
    here: FloatArray,
    span: tuple[int, int],
    kind: int,
    task: _Task,
) -> Edges:
    """Add all edges that translate a span next, in one of three ways.

    `kind`: the span goes on in order, skips what lies before it, or was skipped.
    """
    options, w = task.options, task.w
    n = options.size
    begin, end = span
    before = state[node]
    # All words before the frontier are translated, but for a gap.
    frontier = before[COVERED] + before[GAP_END] - before[GAP_BEGIN]
    backward, distance, gap_begin, gap_end = MONOTONE, 0, end, end
    covered = end
    if kind == SKIP:
        backward, distance = DISCONTINUOUS, begin - frontier
        gap_begin, gap_end = frontier, begin
        covered = frontier + end - begin
    elif kind == FILL:
        # There and back again: the distances before and after the phrase.
        backward, distance = SWAP, (frontier - begin) + (frontier - end)
        gap_begin = gap_end = covered = frontier
    elif before[NEXT] == RETURNED:
        backward = DISCONTINUOUS
    rest = task.rests[gap_begin, gap_end] + task.rests[max(end, frontier), n]
    for o in range(options.ptr[begin * n + end - 1], options.ptr[begin * n + end]):
        a, b, lm = before[BEFORE], before[LAST], 0.0
        for at in range(options.word_ptr[o], options.word_ptr[o + 1]):
            word = options.words[at]
            lm += log_probability(task.model, a, b, word)
            a, b = b, word
        own = task.fixed[o] + w[LANGUAGE_MODEL] * lm - w[DISTORTION] * distance
        own += w[BACKWARD + backward] * options.scores[o, 4 + backward]
        for following in range(4):
            if kind == SKIP:
                possible, forward = following == FILL, SWAP
            else:
                order = GO_ON if kind == GO_ON else RETURNED
                room = max(end, frontier) < n - 1
                possible = following == order or (following == SKIP and room)
                forward = MONOTONE if following == GO_ON else DISCONTINUOUS
            if possible:
                score = own + w[FORWARD + forward] * options.scores[o, 7 + forward]
                edges = add_edge(
                    edges, stacks, node, here, o, (backward, forward, distance),
                    (covered, gap_begin, gap_end, following), (a, b), (score, lm),
                    rest, task.width,
                )  # fmt: skip
    return edges


@kernel
def _expand(
    edges: Edges,
    stacks: tuple[IntArray, FloatArray],
    node: int,
    state: IntArray,
    here: FloatArray,
    task: _Task,
) -> Edges:
    """Add all edges that leave a node."""
    options, longest = task.options, task.longest
    n = options.size
    row = state[node]
    begin = row[COVERED]
    if row[NEXT] == FILL:
        gap = (row[GAP_BEGIN], row[GAP_END])
        return _continue(edges, stacks, node, state, here, gap, FILL, task)
    if row[NEXT] != SKIP:
        for end in range(begin + 1, min(begin + longest, n) + 1):
            span = (begin, end)
            edges = _continue(edges, stacks, node, state, here, span, GO_ON, task)
    if row[NEXT] == SKIP or node == 0:
        for middle in range(begin + 1, min(begin + longest, n - 1) + 1):
            k = begin * n + middle - 1
            if options.ptr[k] == options.ptr[k + 1]:
                continue
            for end in range(middle + 1, min(middle + longest, n) + 1):
                span = (middle, end)
                edges = _continue(edges, stacks, node, state, here, span, SKIP, task)
    return edges


@kernel
def _make_nodes(
    edges: Edges, head: int, covered: int, n_nodes: int, most: int, state: IntArray,
    here: FloatArray, best: FloatArray, width: float,
) -> int:  # fmt: skip
    """Make the nodes of one stack, of all that its edges lead to; return how many."""
    count, e = 0, head
    while e != DEAD:
        count += 1
        e = edges.numbers[e, LINK]
    own, e = np.zeros(count, np.int64), head
    for k in range(count):
        own[count - 1 - k] = e
        e = edges.numbers[e, LINK]
    keys = edges.numbers[own, KEY]
    order = np.argsort(keys, kind="mergesort")
    first = np.zeros(count + 1, np.int64)
    promise, n_groups = np.zeros(count), 0
    for k in range(count):
        e = own[order[k]]
        if k == 0 or keys[order[k]] != keys[order[k - 1]]:
            first[n_groups] = k
            promise[n_groups] = edges.scores[e, TOTAL]
            n_groups += 1
        promise[n_groups - 1] = max(promise[n_groups - 1], edges.scores[e, TOTAL])
    first[n_groups] = count
    ranked = np.argsort(-promise[:n_groups], kind="mergesort")
    made = 0
    for rank in range(min(most, n_groups)):
        g = ranked[rank]
        if promise[g] < best[covered] - width:
            break
        node = n_nodes + made
        made += 1
        key = keys[order[first[g]]]
        state[node, LAST], key = key % WIDTH, key // WIDTH
        state[node, BEFORE], key = key % WIDTH, key // WIDTH
        state[node, NEXT], key = key % 4, key // 4
        state[node, GAP_END], state[node, GAP_BEGIN] = key % SHIFT, key // SHIFT
        state[node, COVERED] = covered
        here[node] = -np.inf
        for k in range(first[g], first[g + 1]):
            e = own[order[k]]
            edges.numbers[e, TO] = node
            reached = here[edges.numbers[e, FROM]] + edges.scores[e, OWN]
            here[node] = max(here[node], reached)
    return made


@kernel
def search(
    options: Options, longest: int, model: LanguageModel, w: FloatArray, stack: int,
    width: float, most_edges: int,
) -> Found:  # fmt: skip
    """Translate a sentence with the weights `w` of the dense features."""
    n = options.size
    fixed, promise = estimate_options(options, model, w)
    rests = promise_spans(options, promise)
    task = _Task(options, longest, model, w, fixed, rests, width)
    edges = Edges(
        np.zeros((1024, 8), np.int64), np.zeros((1024, 3)), np.zeros(1, np.int64)
    )
    head, best = np.full(n + 2, DEAD), np.full(n + 2, -np.inf)
    stacks = (head, best)
    state = np.zeros(((n + 1) * stack + 2, 6), np.int64)
    here = np.zeros((n + 1) * stack + 2)
    state[0, BEFORE] = state[0, LAST] = BEGIN
    n_nodes, finished = 1, 0
    for covered in range(n + 1):
        first = 0 if covered == 0 else n_nodes
        if covered > 0:
            n_nodes += _make_nodes(
                edges, head[covered], covered, n_nodes, stack, state, here, best, width
            )
        if covered == n:
            finished = first
            break
        for node in range(first, n_nodes):
            edges = _expand(edges, stacks, node, state, here, task)
    end = n_nodes
    here[end] = -np.inf
    state[end, COVERED] = n
    for node in range(finished, end):
        edges = with_room(edges)
        e = edges.size[0]
        edges.size[0] += 1
        lm = log_probability(model, state[node, BEFORE], state[node, LAST], END)
        row = edges.numbers[e]
        row[FROM], row[TO], row[OPTION] = node, end, NO_OPTION
        row[BACK] = row[FORTH] = row[FAR] = 0
        edges.scores[e, OWN], edges.scores[e, LM] = w[LANGUAGE_MODEL] * lm, lm
        here[end] = max(here[end], here[node] + edges.scores[e, OWN])
    kept = keep_best(edges, here, end, most_edges)
    numbers = edges.numbers[kept]
    return Found(
        end + 1,
        numbers[:, FROM].copy(),
        numbers[:, TO].copy(),
        numbers[:, OPTION].copy(),
        numbers[:, BACK].copy(),
        numbers[:, FORTH].copy(),
        numbers[:, FAR].copy(),
        state[numbers[:, TO], COVERED] - state[numbers[:, FROM], COVERED],
        edges.scores[kept, LM],
        state[: end + 1, BEFORE : LAST + 1].copy(),
    )


def translate(
    options: Options, model: LanguageModel, w: FloatArray, limits: Limits
) -> Found:
    """Return the lattice of the translations worth considering.

    Raises
    ------
    ValueError
        The sentence is too long for the search, or nothing can be found with such
        weights or limits.
    """
    if w.shape != (N_DENSE,) or not np.isfinite(w).all():
        raise ValueError(f"w must be {N_DENSE} finite weights of dense features")
    if limits.stack < 1 or limits.edges < 1 or not limits.width >= 0:
        raise ValueError(
            f"{limits}: stack and edges must be at least one, width at least zero"
        )
    if options.size >= SHIFT:
        raise ValueError(
            f"a sentence of {options.size} words is too long (split it; the limit is "
            f"{SHIFT - 1})"
        )
    return search(
        options, options.longest, model, w, limits.stack, limits.width,
        limits.edges * (options.size + 1),
    )  # fmt: skip
