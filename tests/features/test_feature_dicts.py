"""Feature dicts and lists of strings, against a slow and obvious reference."""

import copy
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from encoded_rows import as_dicts, corrupt_tensors
from partwise import features
from partwise.errors import DataError, ModelFileError
from partwise.features import FeatureDictEncoder, byte_lookup, byte_table
from partwise.features.csr import tidy_rows
from partwise.features.feature_rows import FeatureRows, TokenNames, ids_of_few
from partwise.model_file import pack_strings, prefixed, unpack_strings

SENTENCE = [
    {"word": "Paris", "is_title": True, "length": 5.0},
    {"word": "is", "is_title": False, "length": 2},
]


class Loud(str):
    def __str__(self):
        return self.upper()


def attributes_of(token):
    """List a token's ((name, value), number) pairs as the documentation says."""
    if not isinstance(token, dict):
        ordered = sorted(token) if isinstance(token, set) else token
        return [((string, None), 1.0) for string in ordered]
    pairs = []
    for name, value in token.items():
        if isinstance(value, str):
            pairs.append(((name, value), 1.0))
        elif isinstance(value, dict):
            nested = {f"{name}:{inner}": v for inner, v in value.items()}
            pairs.extend(attributes_of(nested))
        elif isinstance(value, (list, set)):
            ordered = sorted(value) if isinstance(value, set) else value
            pairs.extend(((name, item), 1.0) for item in ordered)
        elif value is not None and value != 0:
            pairs.append(((name, None), float(value)))
    return pairs


def reference_rows(tokens, vocabulary=None, min_count=1):
    """Encode tokens with plain dictionaries; learn the vocabulary if none is given."""
    rows = []
    for token in tokens:
        row = {}
        for key, number in attributes_of(token):
            row[key] = row.get(key, 0.0) + number
        rows.append(row)
    if vocabulary is None:
        kept = [{key for key, number in row.items() if number != 0} for row in rows]
        seen = dict.fromkeys(key for row in rows for key in row)
        frequent = (k for k in seen if sum(k in row for row in kept) >= min_count)
        vocabulary = {key: i for i, key in enumerate(frequent)}
    encoded = [
        {vocabulary[key]: n for key, n in row.items() if key in vocabulary and n != 0}
        for row in rows
    ]
    return encoded, vocabulary


texts = st.sampled_from(["", "a", "b", "a:b", "Ä", "\ud800"])
numbers = st.sampled_from([0, 1, -1, 2, 0.5, -0.25, True, False])
simple = texts | numbers | st.none()
values = simple | st.lists(texts, max_size=3) | st.sets(texts, max_size=3)
nested = st.dictionaries(texts, simple, max_size=2)
tokens = st.dictionaries(texts, values | nested, max_size=4) | st.lists(
    texts, max_size=4
)
sequences = st.lists(st.lists(tokens, max_size=4), max_size=4)


@given(sequences, sequences, st.integers(1, 3))
def test_dict_encoder_agrees_with_reference(train, test, min_count):
    encoder = FeatureDictEncoder(min_count=min_count)
    encoded = encoder.fit_encode(train)
    flat = [token for sequence in train for token in sequence]
    expected, vocabulary = reference_rows(flat, min_count=min_count)
    assert as_dicts(encoded.nodes) == expected
    assert encoded.ptr.tolist() == [0, *np.cumsum([len(s) for s in train])]
    assert encoder.n_attributes == encoded.nodes.n_columns == len(vocabulary)
    assert encoder.attribute_names() == [
        name if value is None else f"{name}={value}" for name, value in vocabulary
    ]

    flat = [token for sequence in test for token in sequence]
    expected, _ = reference_rows(flat, vocabulary)
    assert as_dicts(encoder.encode(test).nodes) == expected

    loaded = FeatureDictEncoder.from_tensors(*encoder.to_tensors())
    assert as_dicts(loaded.encode(test).nodes) == expected
    assert loaded.attribute_names() == encoder.attribute_names()


@given(sequences)
def test_dict_encoder_streams_generators(train):
    def lazily(sequence):
        return (t if isinstance(t, dict) else iter(t) for t in sequence)

    from_lists = FeatureDictEncoder(transition_features=["a"])
    from_generators = FeatureDictEncoder(transition_features=["a"])
    first = from_lists.fit_encode(train)
    second = from_generators.fit_encode(lazily(sequence) for sequence in train)
    assert as_dicts(first.nodes) == as_dicts(second.nodes)
    assert as_dicts(first.edges) == as_dicts(second.edges)
    assert first.ptr.tolist() == second.ptr.tolist()


def test_dict_encoder_dtypes_are_fixed():
    encoded = FeatureDictEncoder(transition_features=["word"]).fit_encode([SENTENCE])
    assert encoded.ptr.dtype == np.int64
    for rows in (encoded.nodes, encoded.edges):
        assert (rows.ptr.dtype, rows.idx.dtype) == (np.int64, np.int32)
        assert rows.val.dtype == np.float64


def test_dict_encoder_all_ones_has_no_values():
    rows = FeatureDictEncoder().fit_encode([[["a", "b"], {"a": 1, "c": 1.0}]]).nodes
    assert rows.val.size == 0
    assert rows.idx.tolist() == [0, 1, 0, 2]


def test_dict_encoder_string_is_the_attribute_of_true():
    encoder = FeatureDictEncoder()
    encoded = encoder.fit_encode([[["bold"], {"bold": True}, {"bold": np.bool_(True)}]])
    assert encoded.nodes.idx.tolist() == [0, 0, 0]
    assert encoder.attribute_names() == ["bold"]


def test_dict_encoder_accepts_numpy_scalars():
    token = {"a": np.float32(0.5), "b": np.int64(3), "c": np.str_("x")}
    encoder = FeatureDictEncoder()
    assert encoder.fit_encode([[token]]).nodes.val.tolist() == [0.5, 3.0, 1.0]
    assert encoder.attribute_names() == ["a", "b", "c=x"]


def test_dict_encoder_transition_features_skip_the_first_token():
    encoder = FeatureDictEncoder(transition_features=["comma", "word"])
    sequence = [{"word": "a", "comma": True}, {"word": "b", "x": 1}, ["comma", "y"]]
    edges = encoder.fit_encode([sequence]).edges
    assert encoder.edge_attribute_names() == ["word=b", "comma"]
    assert encoder.n_edge_attributes == edges.n_columns == 2
    assert edges.ptr.tolist() == [0, 0, 1, 2]
    assert edges.idx.tolist() == [0, 1]


@pytest.mark.parametrize("names", [(), ("absent",)])
def test_dict_encoder_without_transitions_has_no_edges(names):
    edges = FeatureDictEncoder(transition_features=names).fit_encode([SENTENCE]).edges
    assert edges.n_columns == 0
    assert edges.ptr.tolist() == [0]


def test_dict_encoder_rows_are_sequences_of_one():
    encoder = FeatureDictEncoder()
    learnt = encoder.fit_encode_rows(iter(SENTENCE))
    assert learnt.ptr.tolist() == [0, 1, 2]
    again = encoder.encode_rows([{"word": "new"}, SENTENCE[1]])
    assert as_dicts(again.nodes) == [{}, as_dicts(learnt.nodes)[1]]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -np.inf, 10**400])
def test_dict_encoder_refuses_what_is_not_finite(value):
    with pytest.raises(DataError, match=r"sequence 1, token 2: feature 'n' has"):
        FeatureDictEncoder().fit_encode([[], [{}, {}, {"n": value}]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("text", "X must be a list of sequences"),
        (["text"], "sequence 0 must be a list of tokens, not of type str"),
        ([{"word": "a"}], "sequence 0 must be a list of tokens, not of type dict"),
        ([["text"]], "sequence 0, token 0: features must be a dict"),
        ([[{}, 7]], "sequence 0, token 1: features must be a dict"),
        ([[{"f": object()}]], "feature 'f' is of type object"),
        ([[{"f": 1j}]], "feature 'f' is of type complex"),
        ([[{3: "x"}]], "feature name 3 is of type int"),
        ([[{3: True}]], "feature name 3 is of type int"),
        ([[{"f": {3: "x"}}]], "feature name 3 is of type int"),
        ([[{"f": [3]}]], "feature 'f' lists 3, of type int"),
        ([[["a", 3.0]]], r"the features list 3\.0, of type float"),
        ([[{"f": 1e308, "g": {"h": 1e308}, "g:h": 1e308}]], "add up to infinity"),
    ],
)
def test_dict_encoder_errors_say_where_and_what(data, message):
    encoder = FeatureDictEncoder()
    with pytest.raises(DataError, match=message):
        encoder.fit_encode(data)
    with pytest.raises(ValueError, match="call fit_encode first"):
        encoder.encode([])


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"min_count": 0}, ValueError),
        ({"hash_bits": 0}, ValueError),
        ({"hash_bits": 31}, ValueError),
        ({"hash_bits": 8, "min_count": 2}, ValueError),
        ({"transition_features": "word"}, TypeError),
        ({"transition_features": [1]}, TypeError),
    ],
)
def test_dict_encoder_settings_are_checked(settings, error):
    with pytest.raises(error):
        FeatureDictEncoder(**settings)


def test_dict_encoder_failed_fit_keeps_what_was_learnt():
    encoder = FeatureDictEncoder()
    encoder.fit_encode([SENTENCE])
    names = encoder.attribute_names()
    with pytest.raises(DataError):
        encoder.fit_encode([[{"new": 1}], [{"bad": object()}]])
    assert encoder.attribute_names() == names


def test_dict_encoder_hashed_ids_never_change():
    """Models that were saved with hashing depend on these numbers for ever."""
    encoded = FeatureDictEncoder(hash_bits=30).encode([[{"word": "Paris", "n": 2.0}]])
    assert encoded.nodes.idx.tolist() == [137076839, 312073518]


def test_dict_encoder_parts_of_a_name_do_not_run_together():
    encoder = FeatureDictEncoder(hash_bits=30)
    rows = encoder.encode([[{"a": "bc"}, {"ab": "c"}, {"abc": True}, {"abc": ""}]])
    assert len(set(rows.nodes.idx.tolist())) == 4


def test_dict_encoder_hashing_is_the_same_in_every_process():
    program = (
        "from partwise.features import FeatureDictEncoder as E;"
        "e = E(hash_bits=20).encode([[{'w': 'x', 'n': 2.0}, {'p', 'q', 'r'}]]);"
        "print(e.nodes.idx.tolist())"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "NUMBA_DISABLE_JIT": "1"},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


def test_dict_encoder_learns_without_numba():
    program = (
        "import sys;"
        "from partwise.features import FeatureDictEncoder as E;"
        "e = E().fit_encode([[{'w': 'x', 'n': 2.0}, {'w': 'y', 'b': True}]]);"
        "assert e.nodes.idx.tolist() == [0, 1, 2, 3];"
        "assert 'numba' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_dict_encoder_hashing_merges_collisions():
    encoder = FeatureDictEncoder(hash_bits=1, transition_features=["a"])
    encoded = encoder.fit_encode([[["a", "b", "c", "d", "e"], {"a": 2.5}]])
    rows = as_dicts(encoded.nodes)
    assert sum(rows[0].values()) == 5.0
    assert sum(rows[1].values()) == 2.5
    assert encoder.attribute_names() == ["#0", "#1"]
    assert encoder.n_edge_attributes == encoded.edges.n_columns == 2


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_dict_encoder_copies_encode_alike(hash_bits):
    encoder = FeatureDictEncoder(hash_bits=hash_bits)
    expected = encoder.fit_encode([SENTENCE]).nodes
    for twin in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        found = twin.encode([SENTENCE]).nodes
        np.testing.assert_array_equal(found.idx, expected.idx)
        np.testing.assert_array_equal(found.val, expected.val)


@pytest.mark.parametrize("hash_bits", [None, 10])
def test_dict_encoder_threads_encode_alike(hash_bits):
    encoder = FeatureDictEncoder(hash_bits=hash_bits)
    encoder.fit_encode([[{"word": str(i)} for i in range(0, 300, 2)]])
    data = [[{"word": str(i)} for i in range(300)]]
    expected = encoder.encode(data).nodes
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(encoder.encode, [data] * 16):
            np.testing.assert_array_equal(found.nodes.idx, expected.idx)
            np.testing.assert_array_equal(found.nodes.ptr, expected.ptr)


# Many tokens at a time. The bytes of words are compared eight at a time.

strings = st.text("aÄ日\ud800", max_size=2) | st.sampled_from(
    ["", "1234567", "12345678", "123456789", "1234567x", "x" * 24, "x" * 23 + "y"]
)
plain_tokens = st.dictionaries(st.sampled_from("abcd"), strings, max_size=4)
odd_tokens = st.sampled_from(
    [
        {"a": "x\0y"},
        {"a": "\0"},
        {"a\0b": "x"},
        {"a": np.str_("1234567")},
        {"a": Loud("1234567x")},
        {"a": "1234567", "b": True, "c": 2.5},
        {"a": None},
        {"a": {"b": "x"}},
        ["a", "b"],
    ]
)


@pytest.fixture
def tiny_chunks(monkeypatch):
    monkeypatch.setattr(byte_lookup, "FEWEST_TOKENS", 1)
    monkeypatch.setattr(byte_lookup, "CHUNK", 3)


def assert_equal_encoded(found, expected):
    np.testing.assert_array_equal(found.ptr, expected.ptr)
    for field in ("ptr", "idx", "val"):
        np.testing.assert_array_equal(
            getattr(found.nodes, field), getattr(expected.nodes, field)
        )


def one_by_one(sequences):
    """Hide sequences in generators, which are never read many tokens at a time."""
    return (iter(sequence) for sequence in sequences)


@pytest.mark.usefixtures("tiny_chunks")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.lists(plain_tokens, max_size=5), max_size=4),
    st.lists(st.lists(plain_tokens, max_size=5), max_size=5),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), odd_tokens), max_size=2),
)
def test_dict_encoder_many_tokens_encode_as_one_by_one(train, test, odd):
    encoder = FeatureDictEncoder()
    encoder.fit_encode(train)
    for s, t, token in odd:
        if s < len(test):
            test[s].insert(t, token)
    for _ in range(2):
        assert_equal_encoded(encoder.encode(test), encoder.encode(one_by_one(test)))
    rows = [token for sequence in test for token in sequence]
    assert_equal_encoded(encoder.encode_rows(rows), encoder.encode_rows(iter(rows)))
    hidden = tuple(map(tuple, test))
    assert_equal_encoded(encoder.encode(hidden), encoder.encode(test))


@pytest.mark.parametrize("n", [255, 256, 511, 512, 513, 1024, 1025])
def test_dict_encoder_chunks_join_without_a_seam(n):
    encoder = FeatureDictEncoder(min_count=2)
    learnt = [{"word": str(i % 150), "tail": str(i)[-2:]} for i in range(400)]
    encoder.fit_encode([learnt])
    data = [{"word": str(i), "tail": str(i)[-2:], "new": "x"} for i in range(n)]
    data = [data[:300], [], data[300:]]
    expected = encoder.encode(one_by_one(data))
    assert_equal_encoded(encoder.encode(data), expected)
    assert_equal_encoded(encoder.encode(data), expected)


@pytest.mark.skipif(not byte_table.IS_USABLE, reason="needs compiled code")
def test_dict_encoder_many_plain_tokens_take_the_quick_way(monkeypatch):
    encoder = FeatureDictEncoder()
    data = [[{"word": str(i)} for i in range(600)]] * 2
    expected = encoder.fit_encode(data)
    monkeypatch.setattr(FeatureRows, "add_features", None)
    assert_equal_encoded(encoder.encode(data), expected)
    assert_equal_encoded(pickle.loads(pickle.dumps(encoder)).encode(data), expected)


@pytest.mark.skipif(not byte_table.IS_USABLE, reason="needs compiled code")
def test_byte_table_tells_equal_hashes_apart():
    """Among so many attributes, dozens share all 32 bits of their hash."""
    ids = np.arange(400_000, dtype=np.int32)
    names = ids % 2
    table = byte_table.byte_table(map(str, ids.tolist()), names, ids)
    found = byte_table.ids_in(table, map(str, ids.tolist()), names)
    np.testing.assert_array_equal(found, ids)
    found = byte_table.ids_in(table, map(str, ids.tolist()), 1 - names)
    assert (found == -1).all()


def test_dict_encoder_vocabulary_with_zero_characters():
    encoder = FeatureDictEncoder()
    data = [[{"a": f"{i % 2}\0{i}", "b": str(i)} for i in range(600)]]
    expected = encoder.fit_encode(data)
    for _ in range(2):
        assert_equal_encoded(encoder.encode(data), expected)
    plain = [[{"b": str(i)} for i in range(700)]]
    assert_equal_encoded(encoder.encode(plain), encoder.encode(one_by_one(plain)))


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"f": object()}, "sequence 2, token 99: feature 'f' is of type object"),
        ({3: "x"}, "sequence 2, token 99: feature name 3 is of type int"),
        (7, "sequence 2, token 99: features must be a dict"),
    ],
)
def test_dict_encoder_errors_after_many_tokens_say_where(token, message):
    encoder = FeatureDictEncoder()
    plain = [{"word": str(i)} for i in range(1000)]
    encoder.fit_encode([plain])
    with pytest.raises(DataError, match=message):
        encoder.encode([plain, [], [*plain[:99], token]])
    with pytest.raises(DataError, match=r"example 1099: "):
        encoder.encode_rows([*plain, *plain[:99], token])


@given(st.data())
def test_dict_encoder_damaged_tensors_never_crash(data):
    encoder = FeatureDictEncoder(transition_features=["word"])
    encoder.fit_encode([SENTENCE])
    tensors, settings = encoder.to_tensors()
    try:
        loaded = FeatureDictEncoder.from_tensors(
            corrupt_tensors(data, tensors), settings
        )
    except ModelFileError:
        return
    rows = loaded.encode([SENTENCE]).nodes
    assert (rows.idx < loaded.n_attributes).all()
    assert len(loaded.attribute_names()) == loaded.n_attributes


@pytest.mark.parametrize(
    "change",
    [
        {"min_count": "1"},
        {"hash_bits": -4},
        {"transition_features": "word"},
        {"transition_features": [None]},
        {"extra": 1},
    ],
)
def test_dict_encoder_damaged_settings_are_refused(change):
    encoder = FeatureDictEncoder()
    encoder.fit_encode([SENTENCE])
    tensors, settings = encoder.to_tensors()
    with pytest.raises(ModelFileError):
        FeatureDictEncoder.from_tensors(tensors, settings | change)


def test_dict_encoder_repeated_attribute_in_file_is_refused():
    encoder = FeatureDictEncoder()
    encoder.fit_encode([[["a", "b"]]])
    tensors, settings = encoder.to_tensors()
    names = pack_strings(["a", "a"], by_character=True)
    tensors |= prefixed("nodes.names", names)
    with pytest.raises(ModelFileError, match="twice"):
        FeatureDictEncoder.from_tensors(tensors, settings)


@given(st.lists(st.text(max_size=5), max_size=8))
def test_packed_strings_come_back(strings):
    packed = pack_strings(strings, by_character=True)
    assert unpack_strings(packed, length=len(strings)) == strings


@given(
    st.lists(
        st.lists(st.tuples(st.integers(-1, 9), st.sampled_from([-1.0, 0.0, 1.0, 2.5]))),
        max_size=6,
    )
)
def test_tidy_rows_agrees_with_reference(rows):
    ptr = np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)
    idx = np.array([i for row in rows for i, _ in row], np.int32)
    val = np.array([v for row in rows for _, v in row], np.float64)
    expected = []
    for row in rows:
        merged = {}
        for i, v in row:
            if i >= 0:
                merged[i] = merged.get(i, 0.0) + v
        expected.append({i: v for i, v in merged.items() if v != 0})
    if idx.size == 0:  # an empty `val` means ones
        return
    tidy = tidy_rows(ptr, idx, val, 10)
    assert as_dicts(tidy) == expected
    assert (tidy.val.size == 0) == all(v == 1 for row in expected for v in row.values())


def test_former_name_of_attribute_rows_is_deprecated():
    with pytest.warns(
        DeprecationWarning, match=r"use partwise\.features\.AttributeRows"
    ):
        assert features.SparseRows is features.AttributeRows


@pytest.mark.parametrize(
    "tokens",
    [
        [{"word": "Paris"}, {"word": "is", "tag": "new"}, {}],
        [{"bias": 1.0}, {"bias": True, "new": 1}],
        [{"bias": np.float64(1.0)}],
        [{"bias": 2.0, "word": "is"}],
        [{"bias": np.ones(3)}],
        [{3: 1.0}],
        [["bias"]],
    ],
)
def test_feature_dicts_are_read_the_same_at_once_and_one_by_one(tokens):
    encoder = FeatureDictEncoder()
    encoder.fit_encode([[{"word": "Paris", "bias": 1.0}, {"word": "is"}]])
    slow = FeatureRows(encoder._nodes)
    try:
        for token in tokens:
            slow.add_token(token)
            slow.end_row()
    except Exception as problem:
        assert ids_of_few(TokenNames(encoder._nodes), tokens) == []
        with pytest.raises(DataError, match=re.escape(str(problem)[:20])):
            encoder.encode([tokens])
        return
    expected = slow.finish(encoder.n_attributes)
    for name, want in expected._asdict().items():
        found = getattr(encoder.encode([tokens]).nodes, name)
        np.testing.assert_array_equal(found, want)
