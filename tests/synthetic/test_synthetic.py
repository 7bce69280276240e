"""Laws of the generated data: seeded, consistent, of the stated difficulty."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from partwise.synthetic import (
    Corpus,
    Sentence,
    Tree,
    make_addresses,
    make_classes,
    make_corpus,
    make_letters,
)
from partwise.synthetic import grammar as grammar_module
from partwise.synthetic.draws import Table
from partwise.synthetic.english import english
from partwise.synthetic.grammar import HeadedGrammar

FINGERPRINT = """
import hashlib
from partwise.synthetic import make_addresses, make_corpus, make_letters
corpus = make_corpus(50, random_state=3, noise=0.1)
images, letters = make_letters(20, random_state=3)
text = corpus.to_columns() + corpus.to_conllu() + corpus.to_brackets()
text += repr(make_addresses(50, random_state=3)) + repr(letters)
text += repr([image.tolist() for image in images])
print(hashlib.sha256(text.encode()).hexdigest())
"""


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus(3000, random_state=5)


def leaves(tree: Tree) -> Iterator[tuple[str, str]]:
    label, content = tree
    if isinstance(content, str):
        yield label, content
    else:
        for child in content:
            yield from leaves(child)


def phrases(tree: Tree, start: int = 0) -> Iterator[tuple[Tree, int, int]]:
    """Yield every phrase with its first word and the word after its last."""
    _, content = tree
    if not isinstance(content, str):
        yield tree, start, start + len(list(leaves(tree)))
        for child in content:
            yield from phrases(child, start)
            start += len(list(leaves(child)))


def read_brackets(text: str) -> Tree:
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def read(position: int) -> tuple[Tree, int]:
        label = tokens[position + 1]
        if tokens[position + 2] != "(":
            return (label, tokens[position + 2]), position + 4
        children, position = [], position + 2
        while tokens[position] == "(":
            child, position = read(position)
            children.append(child)
        return (label, tuple(children)), position + 1

    tree, end = read(0)
    assert end == len(tokens)
    return tree


def is_projective(heads: tuple[int, ...]) -> bool:
    arcs = [tuple(sorted(arc)) for arc in enumerate(heads, start=1)]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


def chunks_from_tree(sentence: Sentence) -> list[str]:
    """Derive the chunks from tree and heads alone, outermost phrase first."""
    chunks = ["O"] * len(sentence.words)
    covered = [False] * len(sentence.words)
    for (label, content), start, end in phrases(sentence.tree):
        inside = range(start + 1, end + 1)
        (head,) = (n for n in inside if sentence.heads[n - 1] not in inside)
        if covered[start]:
            continue
        position, own_words = start, set()
        for child in content:
            if isinstance(child[1], str):
                own_words.add(position)
            position += len(list(leaves(child)))  # type: ignore[arg-type]
        if head - 1 not in own_words:
            continue
        last = head - 1
        while last + 1 in own_words and sentence.tags[last + 1] not in {",", "."}:
            last += 1
        for n in range(start, last + 1):
            chunks[n] = ("B-" if n == start else "I-") + label
            covered[n] = True
    return chunks


# ---- the corpus


def test_corpus_same_seed_same_sentences() -> None:
    assert make_corpus(40, random_state=9) == make_corpus(40, random_state=9)
    assert make_corpus(40, random_state=9) != make_corpus(40, random_state=10)


def test_corpus_larger_begins_with_smaller() -> None:
    assert make_corpus(60).sentences[:25] == make_corpus(25).sentences


def test_corpus_generator_gives_new_sentences_each_time() -> None:
    rng = np.random.default_rng(0)
    assert make_corpus(10, rng) != make_corpus(10, rng)


@pytest.mark.parametrize("hash_seed", ["0", "12345"])
def test_synthetic_does_not_depend_on_process(hash_seed: str) -> None:
    # Whoever changes grammar, words or font changes users' data: this digest, and
    # a line in the changelog, are to be changed with them.
    result = subprocess.run(
        [sys.executable, "-c", FINGERPRINT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert (
        result.stdout.strip()
        == "d83818cd465d3d680fe3072063fb282c2571161f0113270fdf3f2f0aa37263ee"
    )


def test_corpus_layers_have_one_entry_a_word(corpus: Corpus) -> None:
    for sentence in corpus:
        layers = (
            sentence.tags,
            sentence.chunks,
            sentence.entities,
            sentence.heads,
            sentence.relations,
        )
        assert {len(layer) for layer in layers} == {len(sentence.words)}


def test_corpus_tree_yields_words_and_tags(corpus: Corpus) -> None:
    for sentence in corpus:
        pairs = list(zip(sentence.tags, sentence.words, strict=True))
        assert list(leaves(sentence.tree)) == pairs


def test_corpus_heads_form_a_tree_with_one_root(corpus: Corpus) -> None:
    for sentence in corpus:
        assert sentence.heads.count(0) == 1
        assert sentence.relations[sentence.heads.index(0)] == "root"
        assert sentence.relations.count("root") == 1
        for word in range(1, len(sentence.heads) + 1):
            seen = set()
            while word:
                assert word not in seen
                seen.add(word)
                word = sentence.heads[word - 1]


def test_corpus_chunks_follow_from_tree_and_heads(corpus: Corpus) -> None:
    for sentence in corpus:
        assert list(sentence.chunks) == chunks_from_tree(sentence)


def test_corpus_few_percent_are_not_projective(corpus: Corpus) -> None:
    crossing = sum(not is_projective(sentence.heads) for sentence in corpus)
    assert 0.02 < crossing / len(corpus) < 0.08


def test_corpus_entities_are_names(corpus: Corpus) -> None:
    kinds = set()
    for sentence in corpus:
        for tag, entity in zip(sentence.tags, sentence.entities, strict=True):
            if entity != "O":
                assert tag == "NNP"
                kinds.add(entity)
    assert kinds == {
        f"{part}-{kind}" for part in "BI" for kind in ("PER", "LOC", "ORG")
    }


def test_corpus_inventories_are_of_stated_size(corpus: Corpus) -> None:
    tags = {tag for sentence in corpus for tag in sentence.tags}
    chunks = {chunk[2:] for sentence in corpus for chunk in sentence.chunks} - {""}
    assert 15 <= len(tags) <= 25
    assert chunks == {"ADJP", "ADVP", "NP", "PP", "PRT", "SBAR", "VP"}
    assert 10 < np.mean([len(sentence.words) for sentence in corpus]) < 20


def test_corpus_held_out_text_has_unknown_words() -> None:
    known = {word for words in make_corpus(2000).column("words") for word in words}
    words = [w for ws in make_corpus(500, 1).column("words") for w in ws]
    unknown = sum(word not in known for word in words) / len(words)
    assert 0.03 < unknown < 0.12


def test_corpus_words_are_ambiguous(corpus: Corpus) -> None:
    train, test = corpus.split(0.2)
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            seen[word][tag] += 1
    best = {word: tags.most_common(1)[0][0] for word, tags in seen.items()}
    pairs = [
        pair
        for sentence in test
        for pair in zip(sentence.words, sentence.tags, strict=True)
    ]
    right = sum(best.get(word, "NN") == tag for word, tag in pairs) / len(pairs)
    assert 0.8 < right < 0.95
    assert {"NN", "VB", "VBP"} <= seen["report"].keys()
    assert {"DT", "IN", "WDT"} <= seen["that"].keys()


def test_corpus_split_keeps_every_sentence_once() -> None:
    corpus = make_corpus(10)
    train, test = corpus.split(0.25)
    assert train.sentences + test.sentences == corpus.sentences
    assert [len(part) for part in make_corpus(2).split(0.01)] == [1, 1]
    assert [len(part) for part in make_corpus(2).split(0.99)] == [1, 1]


# ---- noise


def test_noise_touches_tags_and_chunks_only(corpus: Corpus) -> None:
    noisy = make_corpus(3000, random_state=5, noise=0.1)
    for clean_sentence, noisy_sentence in zip(corpus, noisy, strict=True):
        for layer in ("words", "entities", "heads", "relations", "tree"):
            assert getattr(clean_sentence, layer) == getattr(noisy_sentence, layer)


def test_noise_has_the_stated_rate(corpus: Corpus) -> None:
    noisy = make_corpus(3000, random_state=5, noise=0.1)
    wrong_tags = n_tags = wrong_chunks = n_chunks = 0
    for clean_sentence, noisy_sentence in zip(corpus, noisy, strict=True):
        tags = list(zip(clean_sentence.tags, noisy_sentence.tags, strict=True))
        n_tags += len(tags)
        wrong_tags += sum(a != b for a, b in tags)
        clean, disturbed = spans(clean_sentence.chunks), spans(noisy_sentence.chunks)
        n_chunks += len(clean)
        wrong_chunks += len(clean - disturbed)
    assert wrong_tags / n_tags == pytest.approx(0.1, abs=0.01)
    assert wrong_chunks / n_chunks == pytest.approx(0.1, abs=0.01)


def spans(labels: tuple[str, ...]) -> set[tuple[int, int, str]]:
    """Return the chunks, demanding valid BIO coding."""
    found, start = set(), 0
    for position, label in enumerate((*labels, "O")):
        previous = labels[position - 1] if position else "O"
        if label.startswith("I-"):
            assert previous[2:] == label[2:]
            continue
        if previous != "O":
            found.add((start, position, previous[2:]))
        start = position
    return found


# ---- text formats


def test_to_columns_reads_back(corpus: Corpus) -> None:
    blocks = corpus.to_columns().removesuffix("\n\n").split("\n\n")
    assert len(blocks) == len(corpus)
    for block, sentence in zip(blocks, corpus, strict=True):
        rows = zip(*(line.split(" ") for line in block.splitlines()), strict=True)
        assert tuple(rows) == (sentence.words, sentence.tags, sentence.chunks)


def test_to_conllu_reads_back(corpus: Corpus) -> None:
    blocks = corpus.to_conllu().removesuffix("\n\n").split("\n\n")
    assert len(blocks) == len(corpus)
    for block, sentence in zip(blocks, corpus, strict=True):
        lines = [line for line in block.splitlines() if line[0] != "#"]
        columns = list(zip(*(line.split("\t") for line in lines), strict=True))
        assert len(columns) == 10
        assert columns[0] == tuple(str(n + 1) for n in range(len(lines)))
        assert columns[1] == sentence.words
        assert columns[4] == sentence.tags
        assert tuple(map(int, columns[6])) == sentence.heads
        assert columns[7] == sentence.relations


def test_to_brackets_reads_back(corpus: Corpus) -> None:
    lines = corpus.to_brackets().splitlines()
    assert [read_brackets(line) for line in lines] == [s.tree for s in corpus]


def test_brackets_escape_parentheses() -> None:
    sentence = Sentence(("(",), (".",), ("O",), ("O",), (0,), ("root",), (".", "("))
    assert sentence.brackets() == "(. -LRB-)"


# ---- the grammar


def test_grammar_first_rules_lead_to_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar_module, "DEEPEST", -1)
    for symbol in english().rules:
        # The last rules, which this would choose, lead to ever more phrases.
        derivation = grammar_module.Derivation(english(), lambda: 0.999999)
        derivation.expand(symbol, 0)
        assert 1 <= len(derivation.words) < 20


def test_grammar_names_symbols_without_words() -> None:
    with pytest.raises(ValueError, match="no rules and no words for NN, VB"):
        HeadedGrammar("S 1 NN/nsubj VB*", {})


def test_grammar_refuses_attachment_to_nothing() -> None:
    words = {"NN": Table(["cat"]), "VB": Table(["sleep"])}
    with pytest.raises(ValueError, match="attaches a child to @obj"):
        HeadedGrammar("S 1 NN/acl@obj VB*", words).derive(lambda: 0.5)


# ---- addresses, letters, classes


def test_addresses_every_token_has_a_label() -> None:
    tokens, labels = make_addresses(500, random_state=1)
    assert len(tokens) == len(labels) == 500
    assert [len(t) for t in tokens] == [len(y) for y in labels]
    assert not any(token in {"", ","} for address in tokens for token in address)
    used = {label for address in labels for label in address}
    assert {"AddressNumber", "StreetName", "PlaceName", "StateName", "ZipCode"} <= used
    assert {"Recipient", "USPSBoxType", "USPSBoxID", "OccupancyType"} <= used


def test_addresses_zip_codes_are_numbers() -> None:
    for address, labels in zip(*make_addresses(300), strict=True):
        for token, label in zip(address, labels, strict=True):
            if label == "ZipCode":
                assert len(token) == 5
                assert token.isdigit()


def test_addresses_names_are_ambiguous() -> None:
    seen = defaultdict(set)
    for address, labels in zip(*make_addresses(2000), strict=True):
        for token, label in zip(address, labels, strict=True):
            seen[token.strip(",")].add(label)
    assert any(
        {"StreetName", "PlaceName", "Recipient"} <= kinds for kinds in seen.values()
    )


def test_letters_are_bitmaps_of_words() -> None:
    images, letters = make_letters(300, random_state=2)
    assert len(images) == len(letters) == 300
    for image, word in zip(images, letters, strict=True):
        assert image.shape == (len(word), 128)
        assert image.dtype == np.float64
        assert set(np.unique(image)) <= {0.0, 1.0}
    assert len({letter for word in letters for letter in word}) == 26


def test_letters_look_like_themselves_but_not_too_much() -> None:
    images, words = make_letters(1500)
    pixels = np.concatenate(images)
    letters = np.array([letter for word in words for letter in word])
    half = len(letters) // 2
    alphabet = np.unique(letters)
    means = np.stack([pixels[:half][letters[:half] == a].mean(0) for a in alphabet])
    distances = ((pixels[half:, None, :] - means) ** 2).sum(2)
    right = (alphabet[distances.argmin(1)] == letters[half:]).mean()
    assert 0.5 < right < 0.95


def test_letters_noise_flips_the_stated_share() -> None:
    clean, _ = make_letters(200, noise=0.0)
    noisy, _ = make_letters(200, noise=0.1)
    flipped = np.concatenate(clean) != np.concatenate(noisy)
    assert flipped.mean() == pytest.approx(0.1, abs=0.01)


def test_classes_are_sparse_and_learnable() -> None:
    X, y = make_classes(2000, n_classes=5, n_features=120, random_state=4)
    assert X.shape == (2000, 120)
    assert set(y.tolist()) == set(range(5))
    assert (X == 0).mean() > 0.7
    means = np.stack([X[:1000][y[:1000] == label].mean(0) for label in range(5)])
    guesses = ((X[1000:, None, :] - means) ** 2).sum(2).argmin(1)
    assert 0.5 < (guesses == y[1000:]).mean() < 0.98


def test_classes_noise_changes_labels_only() -> None:
    X, y = make_classes(2000)
    X_noisy, y_noisy = make_classes(2000, noise=0.2)
    np.testing.assert_array_equal(X, X_noisy)
    assert (y != y_noisy).mean() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("make", [make_addresses, make_letters, make_classes])
def test_synthetic_same_seed_same_data(make: Callable[..., Any]) -> None:
    with np.printoptions(threshold=sys.maxsize):
        assert repr(make(20, random_state=1)) == repr(make(20, random_state=1))
        assert repr(make(20, random_state=1)) != repr(make(20, random_state=2))


# ---- mistakes


@pytest.mark.parametrize(
    "make", [make_corpus, make_addresses, make_letters, make_classes]
)
def test_synthetic_refuses_bad_sizes(make: Callable[..., object]) -> None:
    for size in (0, -3):
        with pytest.raises(ValueError, match=f"must be at least 1, got {size}"):
            make(size)
    with pytest.raises(TypeError, match=r"must be an integer, got 2\.5"):
        make(2.5)


def test_synthetic_refuses_bad_arguments() -> None:
    for noise in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="noise must lie between 0 and 1"):
            make_corpus(5, noise=noise)
    with pytest.raises(ValueError, match="test_fraction must lie between 0 and 1"):
        make_corpus(5).split(1.0)
    with pytest.raises(ValueError, match="cannot be split"):
        make_corpus(1).split(0.5)
    with pytest.raises(ValueError, match="no column 'lemma': choose one of words"):
        make_corpus(1).column("lemma")
    with pytest.raises(ValueError, match="n_classes must be at least 2"):
        make_classes(5, n_classes=1)
    with pytest.raises(ValueError, match="n_features must be at least n_classes = 4"):
        make_classes(5, n_classes=4, n_features=3)
