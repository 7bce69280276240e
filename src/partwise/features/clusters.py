"""Word clusters: words that are used in similar ways share features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from partwise.data.clusters import read_clusters
from partwise.data.files import Source

# Depths of a binary tree of clusters at which words are compared.
DEPTHS = (4, 6, 10, 20)


@dataclass(frozen=True, repr=False)
class Clusters:
    """The cluster of each word.

    Parameters
    ----------
    cluster_of : dict of str to str
        The cluster of each word. If all clusters are strings of 0 and 1, they are
        paths through a binary tree, as Brown clustering finds it; their prefixes are
        larger clusters.
    ignore_case : bool, default=False
        Whether words are looked up in lower case.

    Examples
    --------
    >>> clusters = Clusters({"Monday": "0110010", "Tuesday": "0110011", "run": "10"})
    >>> clusters.features("Tuesday")
    ['0110', '011001', '0110011']
    >>> clusters.features("Wednesday")
    []
    """

    cluster_of: Mapping[str, str]
    ignore_case: bool = False

    def __post_init__(self) -> None:
        """Check the clusters, and bring words into the form that is looked up."""
        if not self.cluster_of:
            raise ValueError("clusters need at least one word")
        tidy: dict[str, str] = {}
        for word, cluster in self.cluster_of.items():
            if not isinstance(word, str) or not isinstance(cluster, str) or not cluster:
                raise TypeError(
                    f"word {word!r} has cluster {cluster!r}: both must be strings, the"
                    " cluster not empty (convert them with str)"
                )
            key = word.lower() if self.ignore_case else word
            if tidy.setdefault(key, cluster) != cluster:
                raise ValueError(f"{key!r} is in clusters {tidy[key]} and {cluster}")
        object.__setattr__(self, "cluster_of", tidy)

    @classmethod
    def read(cls, source: Source, *, ignore_case: bool = False) -> Clusters:
        r"""Read a cluster file: ``word cluster`` or ``bits word count`` lines.

        Parameters
        ----------
        source : path, "-" or file object
            The file, plain or gzip.
        ignore_case : bool, default=False
            Whether words are looked up in lower case.

        Examples
        --------
        >>> import io
        >>> Clusters.read(io.StringIO("0110\tbank\t17\n0111\triver\t3\n"))
        Clusters(2 words in 2 clusters)
        """
        return cls(read_clusters(source, ignore_case=ignore_case), ignore_case)

    def __repr__(self) -> str:
        """Show the sizes."""
        n_clusters = len(set(self.cluster_of.values()))
        case = ", ignore_case=True" if self.ignore_case else ""
        return f"Clusters({len(self.cluster_of)} words in {n_clusters} clusters{case})"

    @cached_property
    def is_tree(self) -> bool:
        """Whether clusters are paths through a binary tree."""
        return all(
            not set(cluster) - {"0", "1"} for cluster in self.cluster_of.values()
        )

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The depths of the tree at which words are compared, if there is a tree."""
        deepest = max(map(len, self.cluster_of.values()))
        return tuple(depth for depth in DEPTHS if self.is_tree and depth < deepest)

    def features(self, word: str) -> list[str]:
        """Return the clusters of a word, the largest first; none if it is unknown.

        In a tree these are the ones at the depths 4, 6, 10 and 20 and the word's own.
        A feature dict takes the list as it is: ``{"cluster": features}``.
        """
        (cluster,) = self.column([word])
        larger = [cluster[:depth] for depth in self.depths if depth < len(cluster)]
        return [*larger, cluster] if cluster else []

    def column(self, words: Sequence[str]) -> list[str]:
        """Return the cluster of each word, or ``""``."""
        get = self.cluster_of.get
        if self.ignore_case:
            of_word = {word: get(word.lower(), "") for word in set(words)}
            return [of_word[word] for word in words]
        return [get(word, "") for word in words]
