"""Features of tokens, chosen by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from partwise.features.blocks import BLOCKS, parse_block, template_text
from partwise.features.clusters import Clusters
from partwise.features.default_template import default_template
from partwise.features.gazetteer import Gazetteer
from partwise.features.named_blocks import NAMED_BLOCKS
from partwise.features.resources import Resources
from partwise.features.templates import Template


@dataclass(frozen=True)
class TokenFeatures:
    """What a tagger sees of words: named blocks, gazetteers and word clusters.

    Give it to a tagger as its template. The model file carries the gazetteers and
    clusters, so that a model can be used where there are no such files.

    Parameters
    ----------
    blocks : str or sequence of str
        ``"ner"`` or ``"pos"`` for a good choice, or names of blocks, as a list or with
        commas between them: ``"words,affixes:4,shape"``. See the guide for all.
    gazetteers : sequence of Gazetteer or path, optional
        Phrases to be found in sentences.
    clusters : Clusters or path, optional
        Clusters of words.

    Examples
    --------
    >>> places = Gazetteer({"place": ["New York"]})
    >>> features = TokenFeatures("lower,suffixes:1", gazetteers=[places])
    >>> sentence = ["In", "New", "York"]
    >>> for strings in features.strings([sentence])[0]:
    ...     print(strings)
    ['U:lower=in', 'U:suffix1=n', 'U:gazetteer place[-1]=_B-1', 'U:gazetteer \
place[1]=B']
    ['U:lower=new', 'U:suffix1=w', 'U:gazetteer place=B', 'U:gazetteer place[1]=I']
    ['U:lower=york', 'U:suffix1=k', 'U:gazetteer place[-1]=B', 'U:gazetteer place=I', \
'U:gazetteer place[1]=_B+1']

    >>> from partwise import SequenceTagger
    >>> tagger = SequenceTagger(template=features)
    >>> tagger = tagger.fit([sentence], [["O", "B", "I"]])
    >>> tagger.predict([["Near", "New", "York"]])
    [['O', 'B', 'I']]
    """

    blocks: str | Sequence[str] = "default"
    gazetteers: Sequence[Gazetteer | str | PathLike[str]] = ()
    clusters: Clusters | str | PathLike[str] | None = None

    def __post_init__(self) -> None:
        """Read what is given as a file."""
        if isinstance(self.gazetteers, Gazetteer | str | PathLike):
            raise TypeError("gazetteers must be a list, even of one (write [...])")
        read = tuple(
            one if isinstance(one, Gazetteer) else Gazetteer.read(one)
            for one in self.gazetteers
        )
        object.__setattr__(self, "gazetteers", read)
        if self.clusters is not None and not isinstance(self.clusters, Clusters):
            object.__setattr__(self, "clusters", Clusters.read(self.clusters))
        if not isinstance(self.blocks, str):
            object.__setattr__(self, "blocks", tuple(self.blocks))
        for block in self._block_names(()):
            parse_block(block)

    @property
    def resources(self) -> Resources:
        """The gazetteers and clusters."""
        return Resources(self.gazetteers, self.clusters)  # type: ignore[arg-type]

    def template(self, columns: int | Sequence[int] = 1) -> Template:
        """Return the template that these features are.

        Parameters
        ----------
        columns : int or sequence of int
            How many columns describe a token, or which ones; the first is the word.

        Raises
        ------
        ValueError
            If there is no such block, or a block reads what is not there.

        Examples
        --------
        >>> template = TokenFeatures(["words:1"]).template()
        >>> print(template.text)
        # words:1
        U:word[-1]=%x[-1,0]
        U:word=%x[0,0]
        U:word[1]=%x[1,0]
        # transitions
        B
        <BLANKLINE>
        """
        numbers = list(range(columns)) if isinstance(columns, int) else list(columns)
        if not numbers:
            raise ValueError("features need at least one column, the word")
        resources = self.resources
        name = self.blocks if isinstance(self.blocks, str) else ", ".join(self.blocks)
        text = template_text(self._block_names(numbers), numbers, resources)
        if self.blocks == "default":
            text = default_template(numbers) + text.removesuffix("# transitions\nB\n")
        template = Template.parse(text, f"template of '{name}'")
        return template.with_resources(resources)

    def _block_names(self, columns: Sequence[int]) -> Sequence[str]:
        blocks = self.blocks
        if not isinstance(blocks, str):
            return blocks
        if blocks == "default":
            return []
        if blocks in NAMED_BLOCKS:
            named = NAMED_BLOCKS[blocks]
            return [*named.words, *(named.columns if len(columns) > 1 else ())]
        return blocks.split(",")

    def strings(self, sentences: Iterable[Iterable[Any]]) -> list[list[list[str]]]:
        """Return the features of every token as strings, to add your own to them.

        Parameters
        ----------
        sentences : iterable of sentences
            A token is a word, or a tuple of columns that begins with the word.

        Returns
        -------
        list of list of list of str
            A form of tokens that a tagger without a template takes.
        """
        from partwise.data import ColumnData
        from partwise.features.template_encoder import TemplateEncoder

        data = ColumnData.from_sentences(sentences)
        encoder = TemplateEncoder(self.template(max(data.n_columns, 1)))
        rows = encoder.fit_encode(data).nodes
        names = encoder.attribute_names()
        ptr, idx = rows.ptr.tolist(), rows.idx.tolist()
        tokens = [[names[i] for i in idx[a:b]] for a, b in pairwise(ptr)]
        return [tokens[a:b] for a, b in pairwise(data.ptr.tolist())]


def looks_like_blocks(text: str) -> bool:
    """Say whether a string names features, rather than a file or a template.

    Examples
    --------
    >>> looks_like_blocks("ner"), looks_like_blocks("words,affixes:4")
    (True, True)
    >>> looks_like_blocks("my.template")
    False
    """
    if text == "default" or text in NAMED_BLOCKS:
        return True
    names = [block.partition(":")[0].strip() for block in text.split(",")]
    return all(name in BLOCKS for name in names) and not Path(text).is_file()
