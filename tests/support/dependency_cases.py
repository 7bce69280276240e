"""Small sentences whose trees and features are listed in the plainest way."""

import itertools

import numpy as np

from laws import Case, draw_scores
from partwise.structures import interface as waist
from partwise.structures import make_sparse_rows
from partwise.structures.dependency import (
    AddedArcs,
    make_dependency_trees,
    make_hashed_arcs,
    make_label_templates,
    make_labels,
    make_listed_arcs,
    make_templates,
)
from partwise.structures.dependency.hashed_arcs import (
    AGREEMENT,
    BETWEEN,
    DIRECTION,
    LENGTHS,
    LOW_BITS,
)

N_CODES = 3


def is_tree(heads):
    for word in range(1, len(heads) + 1):
        seen = set()
        while word:
            if word in seen:
                return False
            seen.add(word)
            word = heads[word - 1]
    return True


def is_projective(heads):
    arcs = [sorted((m, h)) for m, h in enumerate(heads, 1)]
    return not any(a < c < b < d for (a, b), (c, d) in itertools.permutations(arcs, 2))


def all_trees(n, projective, single_root):
    return [
        heads
        for heads in itertools.product(range(n + 1), repeat=n)
        if is_tree(heads)
        and (not projective or is_projective(heads))
        and (not single_root or n == 0 or heads.count(0) == 1)
    ]


# --- features, in the plainest way ----------------------------------------------------


def listed_arcs(random, lengths):
    n_columns = 5
    n_rows = sum((n + 1) ** 2 for n in lengths)
    matrix = random.normal(size=(n_rows, n_columns))
    matrix[random.random(matrix.shape) < 0.6] = 0.0
    owner, columns = np.nonzero(matrix)
    ptr = np.searchsorted(owner, np.arange(n_rows + 1))
    rows = make_sparse_rows(ptr, columns, matrix[matrix != 0], n_columns)
    first = np.cumsum([0] + [(n + 1) ** 2 for n in lengths])

    def features(i, h, m):
        return matrix[first[i] + h * (lengths[i] + 1) + m]

    return make_listed_arcs(rows, lengths), n_columns, features


def hashed_arcs(random, lengths, bits=7):
    n = sum(lengths) + len(lengths)
    codes = random.integers(0, 2**31, (n, N_CODES)).astype(np.int32)
    codes[:, 0] %= 3  # that words are alike
    tags = random.integers(0, 20, n)
    attributes = random.integers(0, 3, (n, 4))
    pairs, between, agreement = [(0, 1), (2, 2), (1, 0)], (0, 0), (0, 2)
    has_between, has_agreement = random.random(2) < 0.7
    templates = make_templates(
        pairs, between if has_between else None, agreement if has_agreement else None
    )
    arcs = make_hashed_arcs(codes, tags, attributes, lengths, templates, bits)
    first = np.cumsum([0] + [n + 1 for n in lengths])
    at_head, at_modifier = zip(*pairs, between, agreement, strict=True)

    def features(i, h, m):
        result = np.zeros(2**bits)
        head, modifier = first[i] + h, first[i] + m

        def weight(t, more, slot):
            key = int(templates.seed[t]) ^ (
                int(templates.head_factor[t]) * int(codes[head, at_head[t]])
            )
            key += int(templates.modifier_factor[t]) * int(
                codes[modifier, at_modifier[t]]
            )
            key += more + (DIRECTION if m < h else 0)
            result[((key >> LOW_BITS) * 8) % 2**bits + slot] += 1.0

        length = sum(abs(h - m) >= start for start in LENGTHS)
        for t in range(len(pairs)):
            weight(t, 0, 0)
            weight(t, 0, length)
        inside = tags[first[i] + min(h, m) + 1 : first[i] + max(h, m)]
        for tag in set(inside.tolist()) if has_between else ():
            weight(len(pairs), tag // 8 * BETWEEN, tag % 8)
        agree = 0
        for one, other in zip(attributes[head], attributes[modifier], strict=True):
            both = one != 0 and other != 0
            agree = 3 * agree + (0 if not both else 1 if one == other else 2)
        if has_agreement:
            weight(len(pairs) + 1, agree // 8 * AGREEMENT, agree % 8)
        return result

    return arcs, 2**bits, features


def added_arcs(random, lengths):
    hashed, n_hashed, hashed_features = hashed_arcs(random, lengths)
    listed, n_listed, listed_features = listed_arcs(random, lengths)

    def features(i, h, m):
        return np.concatenate([hashed_features(i, h, m), listed_features(i, h, m)])

    return AddedArcs(hashed, listed), n_hashed + n_listed, features


ARCS = {"listed": listed_arcs, "hashed": hashed_arcs, "added": added_arcs}


def label_factors(random, lengths, n_labels, bits=3):
    n = sum(lengths) + len(lengths)
    codes = random.integers(0, 2**31, (n, N_CODES)).astype(np.int32)
    codes[:, 0] %= 2
    modifier, head, pairs = [0, 1], [2], [(0, 0)]
    templates = make_label_templates(modifier, head, pairs)
    labels = make_labels(codes, 0, lengths, templates, n_labels, bits)
    first = np.cumsum([0] + [n + 1 for n in lengths])

    def features(i, h, m, label):
        result = np.zeros((2**bits, n_labels))
        of_head, of_modifier = codes[first[i] + h], codes[first[i] + m]
        sums = [(int(of_modifier[c]), 0) for c in modifier]
        sums += [(int(of_head[c]), 0) for c in head]
        sums += [(int(of_head[c]), int(of_modifier[d])) for c, d in pairs]
        for t, (one, other) in enumerate(sums):
            key = int(templates.seed[t]) ^ (int(templates.factor[t, 0]) * one)
            key += int(templates.factor[t, 1]) * other + (DIRECTION if m < h else 0)
            result[(key >> LOW_BITS) % 2**bits, label] += 1.0
        return result.ravel()

    return labels, n_labels * 2**bits, features


def make_case(kind, lengths, n_labels, projective, single_root, weighted, scale, seed):
    random = np.random.default_rng(seed)
    arcs, n_arc_weights, arc_features = ARCS[kind](random, lengths)
    labels, n_label_weights, label_features = label_factors(random, lengths, n_labels)
    i = int(random.integers(len(lengths)))
    n = lengths[i]
    gold_heads = [
        random.choice(all_trees(n, projective, single_root)) for n in lengths if n
    ]
    heads = np.concatenate([np.zeros(0, np.int32), *gold_heads])
    ptr = np.cumsum([0, *lengths])
    word_labels = random.integers(0, max(n_labels, 1), ptr[-1])
    word_weight = random.random(ptr[-1]) if weighted else np.ones(ptr[-1])
    head_cost, label_cost = (0.5, 0.25) if weighted else (1.0, 1.0)
    s = make_dependency_trees(
        arcs,
        lengths,
        heads,
        labels=labels if n_labels else None,
        word_labels=word_labels,
        projective=projective,
        single_root=single_root,
        head_cost=head_cost,
        label_cost=label_cost,
        word_weight=word_weight if weighted else None,
    )
    outputs = [
        heads + chosen
        for heads in all_trees(n, projective, single_root)
        for chosen in itertools.product(range(n_labels), repeat=n if n_labels else 0)
    ]

    def features(y):
        result = np.zeros(n_arc_weights + n_label_weights)
        for m in range(1, n + 1):
            result[:n_arc_weights] += arc_features(i, y[m - 1], m)
            if n_labels:
                result[n_arc_weights:] += label_features(i, y[m - 1], m, y[n + m - 1])
        return result

    def cost(y):
        total = 0.0
        for m in range(n):
            word = ptr[i] + m
            total += word_weight[word] * head_cost * (y[m] != heads[word])
            if n_labels:
                wrong = y[n + m] != word_labels[word]
                total += word_weight[word] * label_cost * wrong
        return total

    return Case(
        s=s,
        i=i,
        outputs=outputs,
        theta=draw_scores(random, waist.n_parts(s, i), scale),
        w=random.normal(size=n_arc_weights + n_label_weights),
        features=features,
        cost=cost,
        seed=seed,
    )
