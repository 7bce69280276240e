"""Features chosen by name: blocks, gazetteers and clusters, up to the model file."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from encoded_rows import corrupt_tensors
from partwise.data import ColumnData
from partwise.errors import DataError, ModelFileError
from partwise.estimators.sequence.inputs import read_template
from partwise.features import (
    Clusters,
    Gazetteer,
    Resources,
    Template,
    TemplateEncoder,
    TokenFeatures,
    default_template,
)
from partwise.features.blocks import BLOCKS
from partwise.features.named_blocks import NAMED_BLOCKS

PLACES = Gazetteer({"LOC": ["New York", "Rome"], "ORG": ["New York Times"]})
CLUSTERS = Clusters({"in": "0110", "near": "0110101", "New": "10"})
RESOURCES = Resources((PLACES,), CLUSTERS)
SENTENCE = ["near", "New", "York"]


def features_of(blocks: str, **more: object) -> list[set[str]]:
    found = TokenFeatures(blocks, **more).strings([SENTENCE])[0]
    assert all(len(set(strings)) == len(strings) for strings in found)
    return [set(strings) for strings in found]


# Blocks


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("words", ["U:word=New"]),
        ("words:1", ["U:word[-1]=near", "U:word=New", "U:word[1]=York"]),
        ("neighbours:1", ["U:word[-1]=near", "U:word[1]=York"]),
        ("bigrams", ["U:words[-1..0]=near/New", "U:words[0..1]=New/York"]),
        ("lower", ["U:lower=new"]),
        ("lower_bigrams", ["U:lower[-1..0]=near/new", "U:lower[0..1]=new/york"]),
        ("affixes:1", ["U:prefix1=N", "U:suffix1=w"]),
        ("prefixes:2", ["U:prefix1=N", "U:prefix2=Ne"]),
        ("suffixes", ["U:suffix1=w", "U:suffix2=ew", "U:suffix3=New"]),
        ("shape", ["U:shape=Xxx"]),
        ("short_shape", ["U:short_shape=Xx"]),
        ("shape_bigrams", ["U:short_shape[-1..0]=x/Xx", "U:short_shape[0..1]=Xx/Xx"]),
        ("shape_trigrams", ["U:short_shape[-1..1]=x/Xx/Xx"]),
        ("kind", ["U:kind=initial"]),
        ("kind_trigrams", ["U:kind[-1..1]=lower/initial/initial"]),
        ("beside:1", ["U:kind,lower[-1]=initial/near", "U:kind,lower[1]=initial/york"]),
        (
            "endings",
            [
                "U:suffix2[-1]=ar",
                "U:suffix3[-1]=ear",
                "U:suffix2[1]=rk",
                "U:suffix3[1]=ork",
            ],
        ),
        ("flags", ["U:has_upper=yes", "U:is_title=yes"]),
    ],
)
def test_blocks_see_what_they_say(block: str, expected: list[str]) -> None:
    assert features_of(block)[1] == set(expected)


def test_blocks_of_resources_see_what_they_know() -> None:
    found = features_of("gazetteers:0", gazetteers=[PLACES])
    assert found == [set(), {"U:gazetteer LOC=B"}, {"U:gazetteer LOC=I"}]
    found = features_of("clusters:0", clusters=CLUSTERS)
    near = {"U:cluster=0110101", "U:cluster4=0110", "U:cluster6=011010"}
    assert found == [near, {"U:cluster=10"}, set()]
    # They need not be named, where there are resources.
    both = features_of("words", gazetteers=[PLACES], clusters=CLUSTERS)
    assert {"U:word=New", "U:gazetteer LOC=B", "U:cluster=10"} <= both[1]


def test_blocks_of_columns_see_each_further_column() -> None:
    text = TokenFeatures("tags:1,word_tags:0").template([2, 0, 5]).text
    for line in [
        "U:column0=%x[0,0]",
        "U:column5[-1..0]=%x[-1,5]/%x[0,5]",
        "U:column5[-1..1]=%x[-1,5]/%x[0,5]/%x[1,5]",
        "U:lower,column5=%x[0,2.lower]/%x[0,5]",
    ]:
        assert line in text.splitlines()


@pytest.mark.parametrize("block", sorted(BLOCKS))
def test_blocks_all_make_distinct_lines(block: str) -> None:
    features = TokenFeatures(f"words,{block}", [PLACES], CLUSTERS)
    template = features.template(2)
    literals = [line.literals for line in template.node_lines]
    assert len(set(literals)) == len(literals) > 1
    assert template.plain_transitions


def test_blocks_in_common_are_there_once() -> None:
    text = TokenFeatures("words:1,neighbours:1,words").template().text
    assert text.count("U:word=") == text.count("U:word[-1]=") == 1


@pytest.mark.parametrize(
    ("blocks", "message"),
    [
        ("words,lowr", "unknown block 'lowr' .*lower"),
        ("affixes:10", "'affixes:10': the number must be from 1 to 9"),
        ("words:-1", "'words:-1': the number must be from 0 to 9"),
        ("affixes:x", "'affixes:x'"),
        ("", "unknown block ''"),
        ("words,tags", "'tags' reads columns after the word"),
        ("words,gazetteers", "'gazetteers' needs a gazetteer"),
        ("words,clusters", "'clusters' needs clusters"),
    ],
)
def test_blocks_that_cannot_be_are_explained(blocks: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TokenFeatures(blocks).template()


@pytest.mark.parametrize("name", sorted(NAMED_BLOCKS))
def test_named_features_read_all_columns(name: str) -> None:
    for n_columns in (1, 2, 3):
        template = read_template(name, n_columns)
        assert template.n_columns == n_columns
    assert read_template(name, 1).text == TokenFeatures(name).template(1).text


def test_template_can_be_given_in_many_ways(tmp_path: Path) -> None:
    blocks = ["words", "affixes:2"]
    text = TokenFeatures(blocks).template(2).text
    for given_as in (blocks, tuple(blocks), "words,affixes:2", TokenFeatures(blocks)):
        assert read_template(given_as, 2).text == text
    default = TokenFeatures(clusters=CLUSTERS).template(2).text
    assert default.startswith(default_template(2))
    assert TokenFeatures().template(2).text == default_template(2)
    assert "U:cluster=%x[0,0.cluster]" in default
    with pytest.raises(DataError, match="neither a file nor"):
        read_template("wrods", 1)
    with pytest.raises(TypeError, match="TokenFeatures"):
        read_template(3, 1)
    with pytest.raises(TypeError, match="must be a list"):
        TokenFeatures(gazetteers=str(tmp_path))


def test_token_features_read_files(tmp_path: Path) -> None:
    (tmp_path / "LOC.txt").write_text("New York\n")
    (tmp_path / "c.txt").write_text("near 01\n")
    features = TokenFeatures("words", [tmp_path / "LOC.txt"], str(tmp_path / "c.txt"))
    assert features.gazetteers == (Gazetteer({"LOC": ["New York"]}),)
    assert features.clusters == Clusters({"near": "01"})


# Templates that read resources


def test_template_reads_resources_beside_other_cells() -> None:
    text = "U0:%x[-1,1.gazetteer:LOC]/%x[0,0]\nB1:%x[0,1.cluster4]"
    template = Template.parse(text).with_resources(RESOURCES)
    assert template.n_columns == 2
    data = ColumnData.from_sentences(
        [[("a", "New"), ("b", "York"), ("c", "near")], [("d", "York")]]
    )
    encoder = TemplateEncoder(template)
    encoder.fit_encode(data)
    names = encoder.attribute_names()
    assert names == ["U0:_B-1/a", "U0:B/b", "U0:I/c", "U0:_B-1/d"]
    assert encoder.edge_attribute_names() == ["B1:0110"]


@pytest.mark.parametrize(
    ("text", "resources", "message"),
    [
        (
            "U:%x[0,0.gazetteer:PER]",
            RESOURCES,
            "my:1: .* has the type 'PER' .*LOC, ORG",
        ),
        ("U:%x[0,0.gazetteer:LOC]", Resources(), "no gazetteer has the type 'LOC'"),
        ("U:%x[0,0.cluster]", Resources((PLACES,)), "my:1: .*there are no clusters"),
        ("U:%x[0,0.cluster]", RESOURCES, "no line reads a gazetteer"),
        ("U:%x[0,0.gazetteer:LOC]", RESOURCES, "no line reads the clusters"),
        (
            "U:%x[0,0.cluster4]",
            Resources(clusters=Clusters({"a": "animals"})),
            "my:1: .*not strings of 0 and 1",
        ),
    ],
)
def test_template_and_resources_must_fit(
    text: str, resources: Resources, message: str
) -> None:
    template = Template.parse(text, "my")
    with pytest.raises(DataError, match=message):
        template.with_resources(resources)


def test_template_without_its_resources_is_refused() -> None:
    with pytest.raises(DataError, match="there are no clusters"):
        TemplateEncoder("U:%x[0,0.cluster]")


@pytest.mark.parametrize(
    "modifier", ["gazetteer:", "cluster0", "cluster100", "clusters"]
)
def test_template_unknown_resource_is_named(modifier: str) -> None:
    with pytest.raises(DataError, match=r"unknown modifier .*gazetteer:TYPE, cluster"):
        Template.parse(f"U:%x[0,0.{modifier}]")


def test_resources_need_strings() -> None:
    template = TokenFeatures("words", [PLACES]).template()
    data = ColumnData([["New", "York"]], np.array([0, 2]))
    data.columns[0][1] = 3  # type: ignore[call-overload]
    with pytest.raises(DataError, match="column 0, token 1: expected a string"):
        TemplateEncoder(template).fit_encode(data)


# Storing


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_resources_are_stored_with_the_encoder(hash_bits: int | None) -> None:
    other = Gazetteer({"LOC": ["é", "rome"]}, ignore_case=True)
    features = TokenFeatures("words", [PLACES, other], CLUSTERS)
    encoder = TemplateEncoder(features.template(), hash_bits=hash_bits)
    data = ColumnData.from_sentences([SENTENCE, ["ROME", "É"]])
    encoder.fit_encode(data)
    tensors, settings = encoder.to_tensors()
    settings = json.loads(json.dumps(settings))
    loaded = TemplateEncoder.from_tensors(tensors, settings)
    assert loaded.template.resources == features.resources
    unseen = ColumnData.from_sentences([["in", "New", "York", "Times", "rome", "x"]])
    expected, found = encoder.encode(unseen).nodes, loaded.encode(unseen).nodes
    assert expected.idx.tolist() == found.idx.tolist() != []
    assert expected.ptr.tolist() == found.ptr.tolist()


@given(st.data())
def test_resources_damaged_tensors_never_crash(data: st.DataObject) -> None:
    tensors, settings = RESOURCES.to_tensors()
    try:
        loaded = Resources.from_tensors(corrupt_tensors(data, tensors), settings)
    except ModelFileError:
        return
    words = ["in", "New", "York"]
    assert len(loaded.column("cluster", words, np.array([0, 3]))) == 3
    assert set(loaded.column("gazetteer:LOC", words, np.array([0, 3]))) <= set("BI") | {
        ""
    }


GAZETTEER = {"types": ["LOC", "ORG"], "ignore_case": False}


@pytest.mark.parametrize(
    "settings",
    [
        None,
        [],
        {"gazetteers": []},
        {"gazetteers": 3, "clusters": None},
        {"gazetteers": ["x"], "clusters": None},
        {"gazetteers": [GAZETTEER, GAZETTEER], "clusters": None},
        {"gazetteers": [GAZETTEER | {"types": ["LOC"]}], "clusters": None},
        {"gazetteers": [GAZETTEER | {"types": ["LOC", "LOC"]}], "clusters": None},
        {"gazetteers": [GAZETTEER | {"types": ["LOC", 3]}], "clusters": None},
        {"gazetteers": [GAZETTEER | {"types": ["LOC", "O]"]}], "clusters": None},
        {"gazetteers": [GAZETTEER | {"ignore_case": "no"}], "clusters": None},
        {"gazetteers": [GAZETTEER], "clusters": []},
        {"gazetteers": [GAZETTEER], "clusters": {"ignore_case": 0}},
    ],
    ids=str,
)
def test_resources_damaged_settings_are_refused(settings: object) -> None:
    tensors, sound = RESOURCES.to_tensors()
    assert Resources.from_tensors(tensors, sound) == RESOURCES
    with pytest.raises(ModelFileError):
        Resources.from_tensors(tensors, settings)


# The command line: trained with files, used without them

SESSION = """
import json, sys
from pathlib import Path
from typer.testing import CliRunner
from partwise.cli.app import app

def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    return result.output

Path("train.txt").write_text("in NN O\\nNew NN B\\nYork NN I\\n\\nRome NN B\\n")
Path("places.txt").write_text("new york\\nrome\\nnear york\\n")
Path("brown.txt").write_text("01\\tin\\t3\\n01\\tNear\\t2\\n")
train = ["train", "tag", "train.txt", "--model", "m", "--quiet", "--tol", "0.5"]
files = ["--gazetteer", "places.txt", "--clusters", "brown.txt"]
features = ["--features", "lower,tags:0", "--ignore-case"]
run(*train, *files, *features)
Path("my.template").write_text("U:%x[0,0.gazetteer:places]\\nU:%x[0,0.cluster]\\n")
Path("empty.txt").write_text("# nothing\\n")
for options, message in [
    (["--features", "lower", "--template", "my.template"], "not both"),
    (["--features", "lowr"], "unknown block 'lowr'"),
    (["--ignore-case"], "--ignore-case is for"),
    (["--gazetteer", "empty.txt"], "empty.txt: holds no phrases"),
    (["--template", "my.template"], "my.template:1: "),
]:
    assert message in run(*train, *options, code=2), message
run(*train, *files, "--template", "my.template")
run(*train, *files, *features)
Path("places.txt").unlink()
Path("brown.txt").unlink()
Path("test.txt").write_text("NEAR NN\\nYORK NN\\n")
print(run("predict", "m", "test.txt"))
print(run("inspect", "m", "--template"))
print(run("inspect", "m"))
print(json.dumps(json.loads(run("inspect", "m", "--json"))["gazetteers"]))
"""


def test_command_line_puts_resources_into_the_model(tmp_path: Path) -> None:
    """In plain Python, since there is little to compute and much to compile."""
    ended = subprocess.run(
        [sys.executable, "-c", SESSION],
        cwd=tmp_path,
        env={"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "NEAR NN B\nYORK NN I\n" in ended.stdout
    assert "U:gazetteer places[-1]=%x[-1,0.gazetteer:places]" in ended.stdout
    assert "U:column1=%x[0,1]" in ended.stdout
    assert "places (3)" in ended.stdout
    assert "1 of 2 words" in ended.stdout
    assert ended.stdout.splitlines()[-1] == '[{"places": 3}]'
