"""Multiword tokens: which tokens are several words, and which words they are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import ClassVar, Self

from partwise.data.surface import surface_tokens
from partwise.data.treebank import Sentence
from partwise.estimators.pipeline.edit_scripts import apply_split, split_script
from partwise.estimators.pipeline.memory import Memory
from partwise.estimators.pipeline.steps import Make, NothingToLearn, Step, learnt
from partwise.estimators.pipeline.tables import (
    Stored,
    is_cell,
    read_table,
    store_table,
)
from partwise.model_file import Content

ONE_WORD = "-"
FEWEST = 3
"""How often a script must be seen to be learnt, and not only remembered."""


class MultiwordStep(Step):
    """Split tokens into words."""

    name = "words"
    alternatives = ({"suffix": 4}, {"suffix": 8})
    classes: ClassVar = {"words": "MulticlassClassifier"}

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, str] = {}
        self._memory: Memory[str, list[str]] = Memory()

    def fit(self, sentences: Sequence[Sentence], make: Make) -> Self:
        """Remember tokens, and learn scripts from them."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for one in sentences:
            for token in surface_tokens(one):
                script = ONE_WORD
                if token.is_multiword:
                    words = list(one.forms[token.first - 1 : token.last])
                    script = split_script(token.form, words)
                counts[token.form.lower()][script] += 1
        known = {form: found.most_common(1)[0][0] for form, found in counts.items()}
        shared: Counter[str] = Counter()
        for form, found in counts.items():
            shared[known[form]] += found[known[form]]
        if set(shared) == {ONE_WORD}:
            raise NothingToLearn("there are no multiword tokens")
        kept = [form for form in known if shared[known[form]] >= FEWEST]
        if len({known[form] for form in kept}) >= 2:
            X = [_features(form, self.suffix) for form in kept]
            y = [known[form] for form in kept]
            self.models["words"] = learnt(make("MulticlassClassifier"), X, y)
        self.seen = known
        return self

    def split(self, tokens: Sequence[str]) -> list[list[str]]:
        """Return the words of every token."""
        words = self._memory.answers(tokens, self._words)
        return [words[token] for token in tokens]

    def _words(self, tokens: list[str]) -> list[list[str]]:
        scripts = {token: self.seen.get(token.lower()) for token in tokens}
        unknown = [token for token, script in scripts.items() if script is None]
        # Scripts cut letters off: what is not one has none.
        unknown = [token for token in unknown if any(map(str.isalpha, token))]
        if unknown and self.models:
            found = self.models["words"].predict(
                [_features(one, self.suffix) for one in unknown]
            )
            scripts |= dict(zip(unknown, found, strict=True))
        return [_cut(token, script or ONE_WORD) for token, script in scripts.items()]

    def score(
        self, gold: Sequence[Sentence], dev: Sequence[Sentence]
    ) -> tuple[float, list[Sentence]]:
        """Return the share of tokens whose words are right."""
        right = total = 0
        for one in gold:
            tokens = surface_tokens(one)
            found = self.split([token.form for token in tokens])
            total += len(tokens)
            right += sum(
                words == [*one.forms[token.first - 1 : token.last]]
                for token, words in zip(tokens, found, strict=True)
            )
        return right / total if total else 0.0, list(dev)

    def store(self, dtype: str) -> Stored:
        """Return the step as a part of a model file."""
        tensors, settings = super().store(dtype)
        return tensors | store_table("seen", self.seen), settings

    @classmethod
    def from_content(cls, content: Content) -> Self:
        """Return the step that a part of a model file holds."""
        step = super().from_content(content)
        step.seen = read_table(content, "seen")
        if not all(map(is_cell, step.seen.values())):
            raise content.error("a script is empty or holds a tab or a line break")
        return step


def _cut(token: str, script: str) -> list[str]:
    if script == ONE_WORD:
        return [token]
    words = apply_split(script, token)
    return words if words and all(words) else [token]


def _features(form: str, longest: int) -> list[str]:
    """Return what the choice of a script depends on."""
    low = form.lower()
    sizes = range(1, min(longest - 1, len(low)) + 1)
    marks = "".join(one for one in low if not one.isalnum())
    return [
        f"word={low}",
        f"marks={marks}",
        *(f"suffix={low[-n:]}" for n in sizes),
        *(f"prefix={low[:n]}" for n in sizes[:3]),
    ]
