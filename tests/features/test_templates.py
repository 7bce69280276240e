"""CRF++ templates, against a reference that builds strings as CRF++ does."""

import copy
import pickle
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_rows import as_dicts, corrupt_tensors
from partwise.errors import DataError, ModelFileError
from partwise.features import (
    DEFAULT_TEMPLATE,
    Template,
    TemplateEncoder,
    default_template,
)
from partwise.features.byte_table import IS_USABLE
from partwise.features.cell_numbers import FEWEST_CELLS, MANY_CELLS
from partwise.features.modifiers import MODIFIERS, modify
from partwise.features.template_encoder import BOUNDARIES


def make_data(sentences, n_columns=2):
    """Build columns from sentences that are lists of token tuples."""
    columns = [[token[c] for s in sentences for token in s] for c in range(n_columns)]
    ptr = np.cumsum([0] + [len(s) for s in sentences]).astype(np.int64)
    return SimpleNamespace(columns=columns, ptr=ptr)


def cell_of(sentence, position, macro, boundaries):
    """Return the text a macro stands for, or None if there is none."""
    at = position + macro.offset
    if not 0 <= at < len(sentence):
        distance = f"{at}" if at < 0 else f"+{at - len(sentence) + 1}"
        return {"none": None, "single": "_B", "numbered": f"_B{distance}"}[boundaries]
    return modify(macro.modifier, sentence[at][macro.column])


def reference_rows(sentences, lines, boundaries, first_token):
    """Return for each token its attributes, as (literals, cells) -> count."""
    rows = []
    for sentence in sentences:
        for position in range(len(sentence)):
            row = Counter()
            for line in lines if position >= first_token else ():
                cells = [
                    cell_of(sentence, position, m, boundaries) for m in line.macros
                ]
                if None not in cells:
                    row[line.literals, tuple(cells)] += 1
            rows.append(row)
    return rows


def reference_vocabulary(rows, min_count):
    counts = Counter(key for row in rows for key in row)
    first_seen = dict.fromkeys(key for row in rows for key in row)
    kept = [key for key in first_seen if counts[key] >= min_count]
    return {key: i for i, key in enumerate(kept)}


def name_of(literals, cells):
    """Write an attribute as CRF++ does."""
    pieces = [literals[0]]
    for cell, literal in zip(cells, literals[1:], strict=True):
        pieces += [cell, literal]
    return "".join(pieces)


words = st.sampled_from(["a", "B", "ab", "Ab1", "_B-1", "", "x-y", "É"])
tokens = st.tuples(words, words)
corpora = st.lists(st.lists(tokens, max_size=5), max_size=4)
modifiers = st.sampled_from(
    [
        *("", "", "", ".lower", ".shape", ".short_shape", ".prefix2", ".suffix1"),
        *(".kind", ".has_upper"),
    ]
)
macros = st.builds(
    "%x[{},{}{}]".format, st.integers(-3, 3), st.integers(0, 1), modifiers
)
# Few labels, so that lines share their skeleton now and then.
lines = st.builds(
    lambda label, parts: label + "/".join(parts),
    st.sampled_from(["U:", "U1:", "B:", "B2:"]),
    st.lists(macros, max_size=3),
)
templates = st.lists(lines, min_size=1, max_size=6).map("\n".join)


def check_rows(rows, expected, vocabulary):
    found = [
        {vocabulary[key]: n for key, n in row.items() if key in vocabulary}
        for row in expected
    ]
    assert as_dicts(rows) == found


@given(templates, corpora, corpora, st.integers(1, 2), st.sampled_from(BOUNDARIES))
def test_template_encoder_agrees_with_reference(text, train, test, count, boundaries):
    template = Template.parse(text)
    encoder = TemplateEncoder(text, min_count=count, boundaries=boundaries)
    learnt = encoder.fit_encode(make_data(train))
    loaded = TemplateEncoder.from_tensors(*encoder.to_tensors())
    encoded = loaded.encode(make_data(test))
    same = encoder.encode(make_data(test))
    assert learnt.ptr.tolist() == make_data(train).ptr.tolist()

    kinds = [
        ("nodes", template.node_lines, 0, encoder.attribute_names()),
        ("edges", template.edge_lines, 1, encoder.edge_attribute_names()),
    ]
    for kind, kind_lines, first_token, names in kinds:
        rows = reference_rows(train, kind_lines, boundaries, first_token)
        vocabulary = reference_vocabulary(rows, count)
        assert names == [name_of(*key) for key in vocabulary]
        assert getattr(learnt, kind).n_columns == len(vocabulary)
        if kind == "edges" and not vocabulary:
            assert learnt.edges.ptr.tolist() == encoded.edges.ptr.tolist() == [0]
            continue
        check_rows(getattr(learnt, kind), rows, vocabulary)
        rows = reference_rows(test, kind_lines, boundaries, first_token)
        check_rows(getattr(encoded, kind), rows, vocabulary)
        check_rows(getattr(same, kind), rows, vocabulary)


@given(templates, corpora)
def test_template_encoder_hashing_keeps_every_attribute(text, corpus):
    template = Template.parse(text)
    encoder = TemplateEncoder(text, hash_bits=28)
    encoded = encoder.fit_encode(make_data(corpus))
    rows = reference_rows(corpus, template.node_lines, "numbered", 0)
    bucket_of = {}
    for found, expected in zip(as_dicts(encoded.nodes), rows, strict=False):
        assert list(found.values()) == list(expected.values())
        for bucket, key in zip(found, expected, strict=True):
            assert bucket_of.setdefault(key, bucket) == bucket
    assert len(set(bucket_of.values())) == len(bucket_of)


def test_template_encoder_hashed_ids_never_change():
    """Models that were saved with hashing depend on these numbers for ever."""
    text = "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0.lower]"
    encoder = TemplateEncoder(text, hash_bits=30)
    rows = encoder.encode(make_data([[("New", ""), ("York", "")]])).nodes
    assert rows.idx.tolist() == [550492101, 306830088, 923392306, 475375544]


SENTENCES = [
    [("New", "NNP"), ("York", "NNP"), ("is", "VBZ"), ("big", "JJ")],
    [("It", "PRP"), ("is", "VBZ")],
]
DATA = make_data(SENTENCES)


def test_template_same_skeleton_shares_attributes():
    encoder = TemplateEncoder("U:%x[-1,1]\nU:%x[1,1]\nU1:%x[1,1]")
    rows = encoder.fit_encode(make_data([[("a", "X"), ("b", "Y"), ("c", "X")]])).nodes
    assert encoder.attribute_names()[:3] == ["U:_B-1", "U:Y", "U1:Y"]
    # The middle token sees X on both sides: one attribute, of value two.
    assert max(as_dicts(rows)[1].values()) == 2.0


def test_template_boundaries_count_the_distance():
    encoder = TemplateEncoder("U:%x[-2,0]/%x[2,0]")
    encoder.fit_encode(make_data([[("a", ""), ("b", "")]]))
    assert encoder.attribute_names() == ["U:_B-2/_B+1", "U:_B-1/_B+2"]
    without = TemplateEncoder("U:%x[-2,0]/%x[2,0]", boundaries="none")
    rows = without.fit_encode(make_data([[("a", ""), ("b", "")]])).nodes
    assert without.n_attributes == 0
    assert rows.ptr.tolist() == [0, 0, 0]


def test_template_unknown_word_keeps_its_known_shape():
    encoder = TemplateEncoder("U0:%x[0,0]\nU1:%x[0,0.shape]")
    encoder.fit_encode(make_data([[("Paris", "")]]))
    rows = encoder.encode(make_data([[("Tokyo", "")]])).nodes
    assert [encoder.attribute_names()[i] for i in rows.idx] == ["U1:Xxxxx"]


def test_template_plain_transitions_are_no_attributes():
    template = Template.parse("# comment\n\nU:%x[0,0]\nB\n")
    assert template.plain_transitions
    assert not template.edge_lines
    assert not Template.parse("U:%x[0,0]\nB:%x[0,0]").plain_transitions


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("X:%x[0,0]", "a line starts with U, B or #"),
        ("U:%x[0]", "needs a row and a column"),
        ("U:%x[a,0]", "row 'a'"),
        ("U:%x[100,0]", "row '100'"),
        ("U:%x[0,a]", "column 'a'"),
        ("U:%x[0,-1]", "column '-1'"),
        ("U:%x[0,1.5]", "unknown modifier '5'"),
        ("U:%x[0,0.prefix0]", "unknown modifier 'prefix0'"),
        ("U:%x[0,0.suffix10]", "unknown modifier"),
        ("U:%x[0,0", "'%' must begin a macro"),
        ("U:%y[0,0]", "'%' must begin a macro"),
        ("U:50%", "'%' must begin a macro"),
    ],
)
def test_template_malformed_line_is_named(line, message):
    with pytest.raises(DataError) as caught:
        Template.parse(f"# title\n{line}", "my.template")
    assert str(caught.value).startswith("my.template:2: ")
    assert message in str(caught.value)


def test_template_without_lines_is_refused():
    with pytest.raises(DataError, match="template is empty"):
        Template.parse("# nothing\n")


def test_template_file_must_be_utf8(tmp_path):
    path = tmp_path / "my.template"
    path.write_bytes(b"U:%x[0,0]\nU:\xff%x[1,0]")
    with pytest.raises(DataError, match=r"my\.template:2: this is not UTF-8"):
        Template.read(path)
    path.write_text("U:ä%x[0,0]", encoding="utf-8")
    assert Template.read(path).node_lines[0].literals == ("U:ä", "")


def test_template_missing_column_is_named():
    encoder = TemplateEncoder("U:%x[0,0]\nU:%x[0,5]")
    with pytest.raises(DataError, match=r"template:2: '%x\[0,5\]' names column 5"):
        encoder.fit_encode(DATA)


@pytest.mark.parametrize(
    ("columns", "ptr", "message"),
    [
        ([["a", "b"], ["c"]], [0, 2], "column 1 has 1 cells"),
        ([["a", "b"], ["c", 3]], [0, 2], "column 1, token 1: expected a string"),
        ([["a", ["b"]], ["c", "d"]], [0, 2], "column 0, token 1: expected a string"),
        ([["a", "b"], ["c", "d"]], [0, 3], "ptr must rise"),
        ([["a", "b"], ["c", "d"]], [0, 2, 1, 2], "ptr must rise"),
        ([["a", "b"], ["c", "d"]], [0, -5, 2], "ptr must rise"),
        ([["a", "b"], ["c", "d"]], [], "ptr must rise"),
    ],
)
def test_template_encoder_checks_its_data(columns, ptr, message):
    encoder = TemplateEncoder("U:%x[0,0]\nU:%x[0,1]")
    data = SimpleNamespace(columns=columns, ptr=np.array(ptr, np.int64))
    with pytest.raises(DataError, match=message):
        encoder.fit_encode(data)
    with pytest.raises(ValueError, match="call fit_encode first"):
        encoder.encode(DATA)


@pytest.mark.parametrize("name", sorted(MODIFIERS))
@given(word=st.text(max_size=12))
def test_modifiers_take_any_string(name, word):
    result = modify(name, word)
    if name.startswith("prefix"):
        assert (result is None) == (len(word) < int(name[-1]))
        assert result is None or word.startswith(result)
    elif name.startswith("suffix"):
        assert (result is None) == (len(word) < int(name[-1]))
        assert result is None or word.endswith(result)
    elif name.startswith(("has_", "is_")):
        assert result in ("yes", None)
    else:
        assert isinstance(result, str)


def test_default_template_uses_each_column():
    for n_columns in (1, 2, 3):
        assert Template.parse(default_template(n_columns)).n_columns == n_columns
    assert Template.parse(DEFAULT_TEMPLATE).plain_transitions
    with pytest.raises(ValueError, match="at least 1"):
        default_template(0)


def test_default_template_never_shares_attributes_by_accident():
    template = Template.parse(default_template(12))
    literals = [line.literals for line in template.node_lines]
    assert len(set(literals)) == len(literals)


def test_template_encoder_grows_its_table():
    n = 5_000
    corpus = [[(str(i), str(i % 7)) for i in range(n)]]
    text = "U0:%x[0,0]\nU1:%x[0,0]/%x[0,1]"
    encoder = TemplateEncoder(text)
    learnt = encoder.fit_encode(make_data(corpus)).nodes
    assert encoder.n_attributes == 2 * n
    assert learnt.idx.tolist() == list(range(2 * n))
    assert encoder.encode(make_data(corpus)).nodes.idx.tolist() == learnt.idx.tolist()


def test_template_encoder_tells_keys_with_the_same_hash_apart():
    """Hashes are 31 bits, so that keys may share one."""
    encoder = TemplateEncoder("U00:%x[0,0]/%x[0,1]")
    forged, wanted = ("a", "b"), ("c", "d")
    data = make_data([[forged, wanted]])
    assert encoder.fit_encode(data).nodes.idx.tolist() == [0, 1]
    slots = encoder._nodes.table.slots
    own = next(slot for slot in slots.tolist() if slot >= 0 and slot & 0xFFFFFFFF == 1)
    at = (own >> 32) & (slots.size - 1)
    assert slots[at] == own
    slots[at] = own - 1  # the hash of `wanted`, but the key of `forged`
    assert encoder.encode(make_data([[wanted, wanted]])).nodes.idx.tolist() == []
    slots[(at + 1) & (slots.size - 1)] = own
    assert encoder.encode(make_data([[wanted, wanted]])).nodes.idx.tolist() == [1, 1]


@pytest.mark.parametrize("known", ["a word of many bytes", "zero\0"])
@pytest.mark.parametrize("new", ["new", "another\0", "\ud800", "long " * 9])
def test_template_encoder_finds_cells_of_long_columns(known, new):
    """Cells of long columns are looked up as bytes, whatever they hold."""
    words = ["", "a", "ab", "é", known]
    encoder = TemplateEncoder("U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]")
    encoder.fit_encode(make_data([[(word,) for word in words]], 1))
    sentence = [(word,) for word in (*words, new, *reversed(words))]
    short = encoder.encode(make_data([sentence], 1)).nodes.idx.tolist()
    count = max(FEWEST_CELLS, MANY_CELLS // len(sentence) + 1)
    long = encoder.encode(make_data([sentence] * count, 1)).nodes.idx.tolist()
    assert long == short * count
    is_found_as_bytes = encoder._rows._table is not None
    assert is_found_as_bytes == (IS_USABLE and "\0" not in known)
    copied = pickle.loads(pickle.dumps(encoder))
    assert copied._rows == encoder._rows
    assert copied._rows._table is None


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_template_encoder_copies_encode_alike(hash_bits):
    encoder = TemplateEncoder(default_template(2), hash_bits=hash_bits)
    expected = encoder.fit_encode(DATA).nodes
    for twin in (copy.deepcopy(encoder), pickle.loads(pickle.dumps(encoder))):
        found = twin.encode(DATA).nodes
        np.testing.assert_array_equal(found.idx, expected.idx)
        np.testing.assert_array_equal(found.ptr, expected.ptr)


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_template_encoder_threads_encode_alike(hash_bits):
    encoder = TemplateEncoder(default_template(2), hash_bits=hash_bits)
    encoder.fit_encode(DATA)
    other = make_data([*SENTENCES, [("Rome", "NNP"), ("IS", "VBZ")]])
    expected = encoder.encode(other).nodes
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(encoder.encode, [other] * 16):
            np.testing.assert_array_equal(found.nodes.idx, expected.idx)


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_template_encoder_runs_as_plain_python(hash_bits):
    """Without compilation the same code gives the same ids, and no warnings."""
    encoder = TemplateEncoder(default_template(2), hash_bits=hash_bits)
    expected = encoder.fit_encode(DATA).nodes
    program = (
        "import sys, numpy as np; from types import SimpleNamespace;"
        "from partwise.features import TemplateEncoder, default_template;"
        f"data = SimpleNamespace(columns={DATA.columns!r},"
        f" ptr=np.array({DATA.ptr.tolist()}));"
        f"e = TemplateEncoder(default_template(2), hash_bits={hash_bits});"
        "print(e.fit_encode(data).nodes.idx.tolist());"
        "print(e.encode(data).nodes.idx.tolist())"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
        text=True,
    )
    assert result.stdout.splitlines() == [str(expected.idx.tolist())] * 2


@given(st.data())
def test_template_encoder_damaged_tensors_never_crash(data):
    encoder = TemplateEncoder("U0:%x[0,0]\nU1:%x[-1,1]/%x[0,0.lower]\nB:%x[0,1]")
    encoder.fit_encode(DATA)
    tensors, settings = encoder.to_tensors()
    try:
        loaded = TemplateEncoder.from_tensors(corrupt_tensors(data, tensors), settings)
    except ModelFileError:
        return
    encoded = loaded.encode(DATA)
    assert (encoded.nodes.idx < loaded.n_attributes).all()
    assert (encoded.edges.idx < loaded.n_edge_attributes).all()
    assert len(loaded.attribute_names()) == loaded.n_attributes


@pytest.mark.parametrize(
    "change",
    [
        {"template": "U:%x["},
        {"template": 3},
        {"template": "U0:%x[0,0]"},
        {"boundaries": 1},
        {"min_count": None},
        {"hash_bits": 99},
        {"unknown": 0},
    ],
)
def test_template_encoder_damaged_settings_are_refused(change):
    encoder = TemplateEncoder("U0:%x[0,0]\nU1:%x[-1,1]/%x[0,0.lower]")
    encoder.fit_encode(DATA)
    tensors, settings = encoder.to_tensors()
    with pytest.raises(ModelFileError):
        TemplateEncoder.from_tensors(tensors, settings | change)


def test_template_encoder_reads_read_only_arrays():
    encoder = TemplateEncoder("U0:%x[0,0]")
    expected = encoder.fit_encode(DATA).nodes
    tensors, settings = encoder.to_tensors()
    for tensor in tensors.values():
        tensor.flags.writeable = False
    data = SimpleNamespace(columns=DATA.columns, ptr=DATA.ptr.copy())
    data.ptr.flags.writeable = False
    found = TemplateEncoder.from_tensors(tensors, settings).encode(data).nodes
    np.testing.assert_array_equal(found.idx, expected.idx)
