"""Word clusters and their files."""

import gzip
import io
from pathlib import Path

import pytest

from partwise.data import read_clusters
from partwise.errors import DataError
from partwise.features import Clusters

BROWN = "0010\tthe\t120\n0010\ta\t80\n110101\tRome\t3\n"


@pytest.mark.parametrize(
    "text",
    [BROWN, BROWN.replace("\t", " "), "the 0010\na\t0010\n\nRome  110101\n"],
    ids=["brown", "brown with blanks", "pairs"],
)
def test_clusters_file_is_known_by_its_shape(text: str, tmp_path: Path) -> None:
    expected = {"the": "0010", "a": "0010", "Rome": "110101"}
    assert read_clusters(io.StringIO(text)) == expected
    (tmp_path / "c.gz").write_bytes(gzip.compress(text.encode()))
    assert read_clusters(tmp_path / "c.gz") == expected
    assert Clusters.read(tmp_path / "c.gz").depths == (4,)


def test_clusters_file_takes_every_line_for_a_word() -> None:
    assert read_clusters(io.StringIO("# 7\n1 7\n")) == {"#": "7", "1": "7"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 3\nof\n", "c.txt:2: expected a word, a cluster, found 1 fields"),
        ("the 3\nof 4 5\n", "c.txt:2: expected a word, a cluster, found 3 fields"),
        (BROWN + "01 of\n", "c.txt:4: expected bits, a word and its count"),
        (BROWN + "02\tof\t3\n", "c.txt:4: expected bits, a word and its count"),
        (BROWN + "01\tof\tx\n", "c.txt:4: expected bits, a word and its count"),
        ("1 2 3 4\n", "c.txt:1: expected a word, a cluster, found 4 fields"),
        ("\n \n", "c.txt: holds no words"),
    ],
)
def test_clusters_malformed_line_is_named(
    text: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "c.txt"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_clusters(path)
    assert message in str(caught.value)


def test_clusters_that_clash_name_both_lines() -> None:
    agreeing = "bank 3\nriver 8\nbank 3\n"
    assert read_clusters(io.StringIO(agreeing)) == {"bank": "3", "river": "8"}
    with pytest.raises(DataError, match=r":4: 'bank' is in cluster 4, but in line 1 "):
        read_clusters(io.StringIO(agreeing + "bank 4\n"))
    cased = "Bank 3\nbank 4\n"
    assert len(read_clusters(io.StringIO(cased))) == 2
    with pytest.raises(DataError, match=r":2: 'bank' .* in line 1 "):
        read_clusters(io.StringIO(cased), ignore_case=True)


def test_clusters_of_a_tree_have_larger_clusters() -> None:
    clusters = Clusters({"deep": "01" * 11, "flat": "0110", "odd": "011001"})
    deep = "01" * 11
    assert clusters.features("deep") == [deep[:4], deep[:6], deep[:10], deep[:20], deep]
    assert clusters.features("flat") == ["0110"]
    assert clusters.features("odd") == ["0110", "011001"]
    assert clusters.features("unknown") == []
    named = Clusters({"deep": "animals", "flat": "0110110"})
    assert not named.is_tree
    assert named.features("flat") == ["0110110"]


def test_clusters_ignore_case_on_request() -> None:
    cased = Clusters({"The": "1"})
    assert cased.column(["The", "the", "THE"]) == ["1", "", ""]
    clusters = Clusters({"The": "1"}, ignore_case=True)
    assert clusters.column(["The", "the", "THE", "of"]) == ["1", "1", "1", ""]


@pytest.mark.parametrize(
    ("cluster_of", "error"),
    [({}, ValueError), ({"a": 3}, TypeError), ({"a": ""}, TypeError)],
)
def test_clusters_refuse_what_is_no_cluster(
    cluster_of: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        Clusters(cluster_of)
