"""Grammars: the laws, by listing all derivations, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import problems
from all_derivations import all_derivations
from laws import (
    LAWS,
    Case,
    brute_scores,
    draw_scores,
    law_name,
    marginals_are_expected_counts,
    part_counts,
    tolerance,
)
from partwise._jit import kernel
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows
from partwise.structures.grammar import (
    make_applications,
    make_constituency_trees,
    make_grammar,
)
from partwise.structures.grammar.allowed import AllowedPhrases
from partwise.structures.grammar.chart import Parsing
from partwise.structures.grammar.coarse import coarsen, make_coarsening, prune_phrases
from partwise.structures.grammar.inside_outside import inside, outside
from partwise.structures.grammar.log_inside_outside import log_inside, log_outside
from partwise.structures.grammar.parts import part_views
from partwise.structures.interface import Structure
from partwise.structures.rows import no_rows

SCALES = (0.0, 1.0, 30.0, 800.0, 1e5)
MOST_OUTPUTS = 400

plain_only = pytest.mark.skipif(
    not problems.PLAIN_PYTHON, reason="run by test_plain_python"
)


@pytest.mark.parametrize(
    ("n", "count"), [(1, 1), (2, 1), (3, 2), (4, 5), (5, 14), (6, 42), (7, 132)]
)
def test_grammar_brute_force_counts_trees_as_catalan_did(n, count):
    grammar = make_grammar([(0, 0, 0)], 1, [0])
    assert len(list(all_derivations(grammar, [[0]] * n))) == count


def draw_rows(random, n_rows, n_columns=3):
    matrix = random.normal(size=(n_rows, n_columns))
    matrix[random.random(matrix.shape) < 0.5] = 0.0
    owner, columns = np.nonzero(matrix)
    ptr = np.searchsorted(owner, np.arange(n_rows + 1))
    return matrix, make_sparse_rows(ptr, columns, matrix[matrix != 0], n_columns)


def draw_grammar(random, n_symbols, n_rules):
    """Draw rules, features of rules, and classes of symbols that are not all alone."""
    every = np.indices((n_symbols,) * 3).reshape(3, -1).T
    rules = random.permutation(every)[:n_rules]
    roots = np.flatnonzero(random.random(n_symbols) < 0.5)
    roots = roots if roots.size else np.array([0])
    classes = random.integers(0, 2, (2, n_symbols))
    matrix, rows = draw_rows(random, len(rules))
    grammar = make_grammar(
        rules, n_symbols, roots, rows=rows, span_class=classes[0], word_class=classes[1]
    )
    of_rule = {
        tuple(rule): row for rule, row in zip(rules.tolist(), matrix, strict=True)
    }
    return grammar, of_rule


def draw_sentence(random, grammar, n):
    """Draw the symbols of words so that there are some derivations, and not too many.

    If none is found, a sentence with a word less.
    """
    for _ in range(10):
        share = random.choice([0.4, 0.7])
        symbols = [
            np.flatnonzero(random.random(grammar.n_symbols) < share) for _ in range(n)
        ]
        outputs = list(all_derivations(grammar, symbols, MOST_OUTPUTS))
        if 0 < len(outputs) < MOST_OUTPUTS:
            return symbols, outputs
    if n == 1:
        symbols = [np.flatnonzero(grammar.is_root)]
        return symbols, list(all_derivations(grammar, symbols))
    return draw_sentence(random, grammar, n - 1)


def draw_applications(random, grammar, lengths, share):
    """List a share of all rule applications, of derivations or not, with features."""
    every = [
        (i, r, a, m, b)
        for i, n in enumerate(lengths)
        for a in range(n)
        for b in range(a + 2, n + 1)
        for m in range(a + 1, b)
        for r in range(grammar.rules.parent.size)
    ]
    listed = [one for one in every if random.random() < share]
    random.shuffle(listed)
    matrix, rows = draw_rows(random, len(listed))
    applications = make_applications(grammar, lengths, listed, rows)
    return applications, dict(zip(listed, matrix, strict=True))


def allow_some(random, s, gold, share):
    """Allow a share of all phrases with their classes, and always the right ones."""
    column = random.permutation(s.grammar.n_span_classes)
    table = random.random((s.sentences.phrase_ptr[-1], column.size)) < share
    for i, y in enumerate(gold):
        for phrase, of_class in classes_of(s, i, y):
            table[s.sentences.phrase_ptr[i] + phrase, column[of_class]] = True
    return s._replace(allowed=AllowedPhrases(column, table.astype(np.uint8)))


def classes_of(s, i, y):
    """List the phrases of a derivation with the classes of their symbols."""
    n = int(np.diff(s.sentences.ptr[i : i + 2])[0])
    phrases = [(a, b) for a in range(n) for b in range(a + 2, n + 1)]
    for m in range(1, n):
        r, span = y[m - 1], (y[n + m - 2], y[2 * n + m - 3])
        of_class = s.grammar.span_class[s.grammar.rules.parent[r]]
        yield phrases.index(span), int(of_class)


def is_left(s, i, y):
    """Say whether all phrases of a derivation are allowed."""
    first, (column, table) = s.sentences.phrase_ptr[i], s.allowed
    return all(table[first + p, column[k]] for p, k in classes_of(s, i, y))


def make_case(lengths, n_symbols, n_rules, scale, seed, listed=0.0, allowed=1.0):
    random = np.random.default_rng(seed)
    grammar, of_rule = draw_grammar(random, n_symbols, n_rules)
    drawn = [draw_sentence(random, grammar, n) for n in lengths]
    symbols = [own for sentence, _ in drawn for own in sentence]
    lengths = [len(sentence) for sentence, _ in drawn]
    gold = [outputs[random.integers(len(outputs))] for _, outputs in drawn]
    sizes = np.array(lengths)
    words, word_rows = draw_rows(random, sizes.sum())
    spans, span_rows = draw_rows(random, (sizes * (sizes - 1) // 2).sum())
    splits, split_rows = draw_rows(
        random, ((sizes + 1) * sizes * (sizes - 1) // 6).sum()
    )
    applications, of_application = None, {}
    if listed:
        applications, of_application = draw_applications(
            random, grammar, lengths, listed
        )
    costs = random.random(2)
    s = make_constituency_trees(
        grammar,
        lengths,
        np.cumsum([0] + [len(a) for a in symbols]),
        np.concatenate(symbols),
        word_rows,
        span_rows,
        split_rows,
        np.concatenate(gold),
        applications=applications,
        span_cost=costs[0],
        word_cost=costs[1],
    )
    i = int(random.integers(len(lengths)))
    outputs = drawn[i][1]
    if allowed < 1.0:
        s = allow_some(random, s, gold, allowed)
        outputs = [y for y in outputs if is_left(s, i, y)]
    n = lengths[i]
    first_word = sum(lengths[:i])
    first_span = sum(m * (m - 1) // 2 for m in lengths[:i])
    first_split = sum((m + 1) * m * (m - 1) // 6 for m in lengths[:i])
    phrases = [(a, b) for a in range(n) for b in range(a + 2, n + 1)]
    cuts = [(a, m, b) for a, b in phrases for m in range(a + 1, b)]
    n_classes = grammar.n_span_classes, grammar.n_word_classes

    def nodes(y):
        for m in range(1, n):
            r, a, b = y[m - 1], y[n + m - 2], y[2 * n + m - 3]
            yield r, a, m, b

    def features(y):
        rule, split, own_part = np.zeros(3), np.zeros(3), np.zeros(3)
        span, word = np.zeros((3, n_classes[0])), np.zeros((3, n_classes[1]))
        for r, a, m, b in nodes(y):
            own = grammar.rules.parent[r], grammar.rules.left[r], grammar.rules.right[r]
            rule += of_rule[own]
            at = first_span + phrases.index((a, b))
            span[:, grammar.span_class[own[0]]] += spans[at]
            split += splits[first_split + cuts.index((a, m, b))]
            own_part += of_application.get((i, r, a, m, b), 0.0)
        for t, symbol in enumerate(y[3 * n - 3 :]):
            word[:, grammar.word_class[symbol]] += words[first_word + t]
        whole = [rule, word.ravel(), span.ravel(), split]
        return np.concatenate([*whole, own_part] if listed else whole)

    def constituents(y):
        return {
            (grammar.span_class[grammar.rules.parent[r]], a, b)
            for r, a, _, b in nodes(y)
        }

    def cost(y):
        right = gold[i]
        wrong_words = sum(
            a != b for a, b in zip(y[3 * n - 3 :], right[3 * n - 3 :], strict=True)
        )
        wrong_spans = len(constituents(y) - constituents(right))
        return costs[0] * wrong_spans + costs[1] * wrong_words

    return Case(
        s=s,
        i=i,
        outputs=outputs,
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=waist.n_weights(s)),
        features=features,
        cost=cost,
        seed=seed,
    )


def cases(longest=7, n_symbols=(1, 4)):
    return st.builds(
        make_case,
        lengths=st.lists(st.integers(1, longest), min_size=1, max_size=2),
        n_symbols=st.integers(*n_symbols),
        n_rules=st.sampled_from([1, 3, 6, 10]),
        scale=st.sampled_from(SCALES),
        seed=st.integers(0, 2**32 - 1),
        listed=st.sampled_from([0.0, 0.0, 0.3, 1.0]),
        allowed=st.sampled_from([1.0, 0.7]),
    )


@plain_only
@pytest.mark.parametrize("law", LAWS, ids=law_name)
@given(case=cases())
def test_grammar_obeys(law, case):
    law(case)


def test_grammar_compiled_answers_as_enumeration_does():
    """All that training and predicting ask, in one kernel: compiling takes long."""
    for scale, seed, listed, allowed in (
        (1.0, 3, 0.0, 1.0),
        (30.0, 4, 0.0, 1.0),
        (800.0, 5, 0.0, 1.0),
        (1.0, 3, 0.5, 1.0),
        (30.0, 4, 1.0, 1.0),
        (1.0, 3, 0.0, 0.8),
        (800.0, 5, 0.0, 0.8),
    ):
        case = make_case([5, 6], 3, 6, scale, seed, listed, allowed)
        s, i, theta = case.s, case.i, case.theta
        ws, mu = waist.workspace(s, 3), np.zeros(theta.size)
        ys = np.zeros((4, waist.output_size(s, i)), np.int32)
        scores = np.zeros(4)
        log_z, found = ask_all(s, i, theta, mu, ys, scores, ws)
        brute = brute_scores(case)
        assert_allclose(log_z, np.logaddexp.reduce(brute), atol=tolerance(case))
        expected = np.exp(brute - np.logaddexp.reduce(brute)) @ [
            part_counts(case, y) for y in case.outputs
        ]
        assert_allclose(mu, expected, atol=10 * tolerance(case))
        best = np.sort(brute)[::-1][:3]
        assert found == best.size > 1
        assert_allclose(scores[:found], best, atol=tolerance(case))
        assert_allclose(scores[3], best[0], atol=tolerance(case))
        for y, score in zip(ys[[0, 1, 3]], scores[[0, 1, 3]], strict=True):
            listed = case.outputs.index(tuple(y.tolist()))
            assert_allclose(brute[listed], score, atol=tolerance(case))


@kernel
def ask_all(s: Structure, i, theta, mu, ys, scores, ws):
    log_z = waist.marginals(s, i, theta, mu, ws)
    found = waist.kbest(s, i, theta, 3, ys, scores, ws)
    scores[3] = waist.argmax(s, i, theta, ys[3], ws)
    return log_z, found


@plain_only
@pytest.mark.parametrize("seed", range(8))
def test_grammar_logarithms_say_what_scaled_sums_say(seed):
    case = make_case([6], 3, 6, 20.0, seed)
    n = int(case.s.sentences.ptr[case.i + 1] - case.s.sentences.ptr[case.i])
    grammar, ws = case.s.grammar, waist.workspace(case.s, 1)
    found = []
    for by_logarithms in (False, True):
        mu = np.zeros(case.theta.size)
        scores, out = (part_views(case.s, case.i, x) for x in (case.theta, mu))
        parsing, sums = Parsing(grammar, scores, n, ws.chart), ws.sums
        if by_logarithms:
            top = sums.probability
            log_z = log_inside(parsing, sums.pair_share, top)
            log_outside(parsing, log_z, out, sums.probability)
        else:
            log_z, safe = inside(parsing, sums)
            assert safe
            outside(parsing, out, sums)
        found.append((log_z, mu))
    assert_allclose(found[0][0], found[1][0], rtol=1e-12)
    assert_allclose(found[0][1], found[1][1], atol=1e-12)


@plain_only
@pytest.mark.parametrize("where", ["words", "rules", "splits", "spans"])
def test_grammar_scaled_sums_know_when_they_are_not_safe(where):
    """What lags far behind may yet be all that makes a whole tree."""
    # A sentence is S -> A B; in the same spans C and D score far more, and are no use.
    rules = [(0, 1, 2), (3, 1, 1), (1, 1, 4), (4, 4, 4), (3, 3, 3)]
    grammar = make_grammar(rules, 5, [0])
    symbols = [[1, 3], [1, 3, 4], [2, 3]]
    rows = [make_sparse_rows(np.zeros(n + 1), [], None, 1) for n in (3, 3, 4)]
    s = make_constituency_trees(
        grammar, [3], [0, 2, 5, 7], np.concatenate(symbols), *rows
    )
    theta = np.zeros(waist.n_parts(s, 0))
    views = part_views(s, 0, theta)
    if where == "words":
        views.word[[1, 3, 6]] = 900.0
    elif where == "rules":
        views.rule[grammar.rules.parent == 3] = 900.0
    elif where == "splits":
        views.split[2] = -900.0  # of the whole sentence, before its last word
    else:
        views.span[:, 3] = 900.0
    ws, mu = waist.workspace(s, 1), np.zeros(theta.size)
    case_outputs = list(all_derivations(grammar, symbols))
    case = Case(s, 0, case_outputs, theta, np.zeros(0), None, None, 0)
    brute = brute_scores(case)
    assert_allclose(waist.marginals(s, 0, theta, mu, ws), np.logaddexp.reduce(brute))
    assert_allclose(mu[: len(rules)].sum(), 2.0)
    marginals_are_expected_counts(case)


@plain_only
def test_grammar_sentence_without_a_tree_says_so():
    grammar = make_grammar([(0, 1, 1)], 2, [0])
    none = [make_sparse_rows(np.zeros(n + 1), [], None, 1) for n in (3, 3, 4)]
    s = make_constituency_trees(grammar, [3], [0, 1, 2, 3], [1, 1, 1], *none)
    theta, ws = np.zeros(waist.n_parts(s, 0)), waist.workspace(s, 2)
    mu, y = np.ones(theta.size), np.zeros(9, np.int32)
    ys, scores = np.zeros((2, 9), np.int32), np.zeros(2)
    assert waist.argmax(s, 0, theta, y, ws) == -np.inf
    assert waist.log_partition(s, 0, theta, ws) == -np.inf
    assert waist.marginals(s, 0, theta, mu, ws) == -np.inf
    assert not mu.any()
    assert waist.kbest(s, 0, theta, 2, ys, scores, ws) == 0
    # So it is if scores are so far apart that sums take logarithms.
    theta[:] = np.linspace(-1e4, 1e4, theta.size)
    assert waist.marginals(s, 0, theta, mu, ws) == -np.inf
    assert not mu.any()


@plain_only
def test_grammar_kbest_goes_to_the_end_of_long_lists():
    """Every one of many trees comes up once, in order, also among ties."""
    grammar = make_grammar([(0, 0, 0)], 1, [0])
    n = 8
    sizes = n, n * (n - 1) // 2, (n + 1) * n * (n - 1) // 6
    none = [make_sparse_rows(np.zeros(m + 1), [], None, 1) for m in sizes]
    s = make_constituency_trees(grammar, [n], np.arange(n + 1), np.zeros(n), *none)
    for spread in (0.0, 1.0):
        theta = np.random.default_rng(0).normal(size=waist.n_parts(s, 0)) * spread
        ys, scores = np.zeros((500, 4 * n - 3), np.int32), np.zeros(500)
        ws = waist.workspace(s, 500)
        found = waist.kbest(s, 0, theta, 500, ys, scores, ws)
        assert found == 429  # of 8 words, the Catalan number
        assert len({tuple(y) for y in ys[:found].tolist()}) == found
        assert (np.diff(scores[:found]) <= 0).all()


GOOD = {
    "lengths": [2],
    "symbol_ptr": [0, 1, 2],
    "symbols": [1, 1],
    "gold": [0, 0, 2, 1, 1],
}


@plain_only
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lengths": [0]}, "sentence 0 has no words"),
        ({"symbols": [1, 2]}, "must lie in 0..1"),
        ({"symbol_ptr": [0, 2]}, "symbol_ptr must hold 3 numbers"),
        ({"symbols": [1]}, "symbols must hold 2 numbers.*not 1"),
        ({"gold": [0, 0, 2, 1]}, "gold must hold 5 codes.*not 4"),
        ({"gold": [0, 0, 2, 1, 0]}, "is not a derivation"),
        ({"gold": [1, 0, 2, 1, 1]}, "is not a derivation"),
        ({"gold": [0, 1, 2, 1, 1]}, "is not a derivation"),
        ({"span_cost": -1.0}, "span_cost must be finite"),
    ],
)
def test_grammar_corpus_refuses(change, message):
    one, two = make_sparse_rows([0, 1], [0]), make_sparse_rows([0, 1, 2], [0, 0])
    grammar = make_grammar([(0, 1, 1)], 2, [0])
    given = {**GOOD, "words": two, "spans": one, "splits": one}
    make_constituency_trees(grammar, **given)
    with pytest.raises(ValueError, match=message):
        make_constituency_trees(grammar, **given | change)


@plain_only
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([(0, 1, 2)], 2, [0]), "symbols of rules must lie in 0..1"),
        (([(0, 1, 1), (0, 1, 1)], 2, [0]), "0 -> 1 1 is given twice"),
        (([(0, 1, 1)], 2, []), "at least one root"),
        (([(0, 1, 1)], 2, [2]), "roots must lie in 0..1"),
    ],
)
def test_grammar_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_grammar(*arguments)


@plain_only
def test_grammar_classes_must_fit_the_symbols():
    with pytest.raises(ValueError, match="1 entries for 2 symbols"):
        make_grammar([(0, 1, 1)], 2, [0], span_class=[0])
    with pytest.raises(ValueError, match="that a rule expands"):
        make_grammar([(0, 1, 1)], 2, [0], span_class=[-1, 0])
    grammar = make_grammar([(0, 1, 1)], 2, [0], word_class=[0, -1])
    rows = make_sparse_rows([0, 1], [0]), make_sparse_rows([0], []), no_rows()
    with pytest.raises(ValueError, match="word_class is -1"):
        make_constituency_trees(grammar, [1], [0, 1], [1], *rows)


# --- coarse to fine -------------------------------------------------------------------


def coarse_case(seed, n=4):
    """Make a case whose grammar is a coarser one with two states for every symbol."""
    random = np.random.default_rng(seed)
    pairs = random.permutation(np.indices((2, 2, 2)).reshape(3, -1).T)[:4]
    rules = [
        (2 * a + i, 2 * b + j, 2 * c + k)
        for a, b, c in pairs.tolist()
        for i, j, k in np.ndindex(2, 2, 2)
        if random.random() < 0.7 or (i, j, k) == (0, 0, 0)
    ]
    grammar = make_grammar(rules, 4, [0, 1, 2, 3])
    rows = [
        draw_rows(random, size)[1]
        for size in (n, n * (n - 1) // 2, (n + 1) * n * (n - 1) // 6)
    ]
    s = make_constituency_trees(
        grammar, [n], np.arange(0, 4 * n + 1, 4), np.tile(range(4), n), *rows
    )
    few = make_grammar(pairs, 2, [0, 1])
    return s, make_coarsening(grammar, few, [0, 0, 1, 1]), random


@plain_only
@pytest.mark.parametrize("seed", range(4))
def test_coarse_grammar_keeps_what_is_probable_and_the_best_tree(seed):
    s, coarse, random = coarse_case(seed)
    few = coarsen(s, coarse)
    w = 2.0 * random.normal(size=waist.n_weights(few))
    trees = list(all_derivations(coarse.grammar, [[0, 1]] * 4))
    ws, theta = waist.workspace(few, 1), np.zeros(waist.n_parts(few, 0))
    waist.part_scores(few, 0, w, theta, ws)
    scores = np.array([theta @ part_counts_of(few, y) for y in trees])
    share = np.exp(scores - np.logaddexp.reduce(scores))
    chance = np.zeros((6, coarse.grammar.n_span_classes))
    for y, own in zip(trees, share, strict=True):
        for phrase, of_class in classes_of(few, 0, y):
            chance[phrase, of_class] += own
    best = list(classes_of(few, 0, trees[int(scores.argmax())]))
    for least in (1.0, 0.2, 1e-3):
        expected = chance >= least
        expected[tuple(np.transpose(best))] = True
        found = prune_phrases(s, coarse, w, least).allowed
        assert_allclose(found.table, expected)
        assert found.column.tolist() == coarse.span_class.tolist()


@plain_only
def test_coarse_grammar_prunes_nothing_with_zero_and_finds_the_best_that_is_left():
    lost = 0
    for seed in range(2):
        s, coarse, random = coarse_case(seed)
        w = 2.0 * random.normal(size=waist.n_weights(coarsen(s, coarse)))
        all_left = prune_phrases(s, coarse, w, 0.0)
        assert all_left.allowed.table.all()
        pruned = prune_phrases(s, coarse, w, 0.3)
        v = random.normal(size=waist.n_weights(s))
        ws, y = waist.workspace(s, 1), np.zeros(13, np.int32)
        theta, kept = np.zeros((2, waist.n_parts(s, 0)))
        waist.part_scores(s, 0, v, theta, ws)
        waist.part_scores(pruned, 0, v, kept, ws)
        every = list(all_derivations(s.grammar, [[0, 1, 2, 3]] * 4))
        scores = np.array([theta @ part_counts_of(s, one) for one in every])
        left = np.array([is_left(pruned, 0, one) for one in every])
        assert 0 < left.sum() < left.size
        found = waist.argmax(pruned, 0, kept, y, ws)
        assert_allclose(found, scores[left].max())
        assert is_left(pruned, 0, y.tolist())
        assert_allclose(waist.argmax(all_left, 0, theta, y, ws), scores.max())
        assert_allclose(
            waist.log_partition(pruned, 0, kept, ws), np.logaddexp.reduce(scores[left])
        )
        assert all(
            waist.is_output(pruned, 0, np.array(one, np.int32)) == is_in
            for one, is_in in zip(every, left, strict=True)
        )
        lost += scores[left].max() < scores.max()
    assert lost  # or the threshold would not matter


def part_counts_of(s, y):
    """Count the parts of an output."""
    ids, counts = np.zeros(40, np.int64), np.zeros(40)
    found = waist.parts_of(s, 0, np.array(y, np.int32), ids, counts)
    return np.bincount(ids[:found], counts[:found], waist.n_parts(s, 0))


@pytest.mark.parametrize(
    ("coarse", "message"),
    [
        (make_grammar([(0, 0, 0), (1, 1, 1)], 2, [0]), "symbols of one span class"),
        (make_grammar([(0, 0, 0)], 2, [0]), "lacks a rule or a root"),
        (make_grammar([(0, 0, 0), (1, 1, 1)], 2, [1]), "lacks a rule or a root"),
        (
            make_grammar([(0, 0, 0), (1, 1, 1)], 2, [0], word_class=[0, -1]),
            "lacks a symbol of words",
        ),
    ],
)
def test_coarse_grammar_must_fit(coarse, message):
    fine = make_grammar([(0, 0, 0), (1, 1, 1)], 2, [0], span_class=[0, 0])
    with pytest.raises(ValueError, match=message):
        make_coarsening(fine, coarse, [0, 1])
