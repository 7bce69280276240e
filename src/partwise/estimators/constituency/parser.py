"""The constituency parser: phrases and tags for the words of a sentence."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any

from partwise.constituents import RuleApplication, Tree, read_symbol
from partwise.errors import DataError
from partwise.estimators.base import TrainingData
from partwise.estimators.carrying import Blocks
from partwise.estimators.constituency import corpus, decoding
from partwise.estimators.constituency.coarse import learn_pruner
from partwise.estimators.constituency.corpus import GrammarSettings, TaggedWords
from partwise.estimators.constituency.grammar import (
    TreebankGrammar,
    read_grammar,
    split_symbols,
)
from partwise.estimators.constituency.known import (
    Example,
    Knowledge,
    known_tags,
    whole_trees,
)
from partwise.estimators.constituency.persistence import fill, store
from partwise.estimators.constituency.predicting import (
    MEASURES,
    PredictsPhrases,
    RuleFeatures,
)
from partwise.estimators.constituency.productions import (
    Production,
    compile_grammar,
    describe_lack,
    read_productions,
)
from partwise.estimators.constituency.rule_features import (
    check_as_trained,
    learn_own_features,
    name_applications,
    of_sentences,
)
from partwise.estimators.constituency.views import make_views
from partwise.estimators.costs import sample_weights
from partwise.estimators.dev_metrics import find_measure, rehearse
from partwise.estimators.hidden_states import NOISE
from partwise.estimators.labels import LabelCodes, class_array
from partwise.solvers.loop import Evaluate
from partwise.structures.grammar import ConstituencyTrees
from partwise.structures.interface import FloatArray
from partwise.structures.partial import make_partial


class ConstituencyParser(PredictsPhrases):
    """Predict the phrases of a sentence from its words, or from words and tags.

    A weighted context-free grammar: the score of a tree is the sum of the scores of its
    rules, spans and splits, which come from sparse features of the words at their
    borders, of lengths and shapes. The best of all trees is found exactly.

    Attributes
    ----------
    classes_ : array
        The labels of phrases, sorted.
    n_skipped_ : int
        How many training trees were left out.
    pruning_ : dict or None
        With `prune`, what pruning left of the "train" and of the "dev" trees: the share
        of spans that may be phrases, and of right brackets that are among them.

    Examples
    --------
    >>> import io
    >>> from partwise import ConstituencyParser
    >>> from partwise.data import read_brackets
    >>> train = read_brackets(io.StringIO("(S (NP (NNS dogs)) (VP (VBP bark)))"))
    >>> parser = ConstituencyParser(hash_bits=8).fit(train)
    >>> [tree] = parser.predict([["cats", "bark"]])
    >>> print(tree)
    (S (NP (NNS cats)) (VP (VBP bark)))
    """

    _store, _fill = store, fill
    _views = make_views
    least_labels = 1

    n_skipped_: int

    def fit(
        self,
        trees: Iterable[Tree],
        y: Any = None,
        sample_weight: Any = None,
        *,
        rule_features: RuleFeatures | None = None,
        dev: Iterable[Tree] | None = None,
        dev_rule_features: RuleFeatures | None = None,
    ) -> ConstituencyParser:
        """Learn from trees.

        Parameters
        ----------
        trees : iterable of Tree
            As `read_brackets` reads them: without empty elements and function tags.
            `KnownBrackets` in the place of a tree whose brackets are known in part.
        y : ignored
            Trees hold their sentences; for scikit-learn.
        sample_weight : array, optional
            A weight for every tree: what multiplies its loss.
        rule_features : function or list of sparse matrices, optional
            Features of whole rule applications, besides those of the parser. A function
            ``f(words, application)`` is asked about every `RuleApplication` in the
            chart of a sentence, and returns a dict of features, or names of them; with
            `given_tags`, `words` are pairs of a word and its tag. Or, for every
            sentence, a matrix of `scipy.sparse` with a row for every application, in
            the order of `rule_applications`. Predicting needs the same then.
        dev : iterable of Tree, optional
            Development data, for early stopping.
        dev_rule_features : list of sparse matrices, optional
            The `rule_features` of the development data. A function is asked about them
            by itself.

        Returns
        -------
        ConstituencyParser
            Itself.
        """
        return self._fit(
            trees,
            y,
            sample_weight,
            rule_features=rule_features,
            dev=dev,
            dev_rule_features=dev_rule_features,
        )

    def _prepare(
        self,
        trees: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        rule_features: Any = None,
        dev: Any = None,
        dev_rule_features: Any = None,
    ) -> TrainingData:
        """Encode what `fit` is given; everything is checked before training starts."""
        self._check_settings()
        gold = corpus.as_examples(trees)
        if not gold:
            raise DataError("there are no trees to learn from")
        weights = sample_weights(sample_weight, len(gold))
        self._settings, grammar, productions = self._read_grammar(gold)
        if self._start is not None:
            self._check_start()
            grammar = grammar.beyond(self._start._grammar)
        self._grammar = split_symbols(grammar, int(self.states))
        self._name_symbols()
        known = Knowledge(self._grammar, self._settings)
        codes, failed = self._derive(gold, grammar, known, productions)
        kept = corpus.check_derivable(failed, len(gold), self.underivable)
        self.n_skipped_ = len(gold) - len(kept)
        gold = [gold[i] for i in kept]
        if weights is not None:
            weights = weights[kept]
        sentences = corpus.as_words(gold, bool(self.given_tags))
        self._settings.check_memory(self._grammar, sentences, self._jobs())
        in_part = self.states > 1 or len(codes) < len(gold)
        structure: Any = self._settings.structure(
            self._grammar,
            sentences,
            None if in_part else list(codes.values()),
            span_cost=float(self.span_cost),
            word_cost=float(self.word_cost),
        )
        self._own = self._pruner = self.pruning_ = None  # of an earlier fit, maybe
        if self.prune > 0:
            structure = self._prune(structure, gold, sentences, rule_features)
        if rule_features is not None:
            shown = [one.shown(bool(self.given_tags)) for one in sentences]
            given = of_sentences(rule_features, kept)
            self._own, structure = learn_own_features(
                given, self._grammar, structure, shown
            )
        if in_part:
            structure = make_partial(structure, *known.wrong_parts(structure, gold))
        evaluate = None
        if dev is not None:
            of_dev = rule_features if callable(rule_features) else dev_rule_features
            evaluate = self._evaluator(corpus.as_trees(dev, "dev"), of_dev)
        elif dev_rule_features is not None:
            raise ValueError("dev_rule_features are given, but no dev trees")
        return TrainingData(structure, weights, evaluate, kept=kept)

    def _prune(
        self,
        structure: ConstituencyTrees,
        examples: Sequence[Example],
        sentences: Sequence[TaggedWords],
        rule_features: Any,
    ) -> ConstituencyTrees:
        """Learn which phrases are worth a look, and leave out the others."""
        if rule_features is not None:
            raise ValueError(
                "prune does not go with rule_features; leave one of them out"
            )
        self._pruner = learn_pruner(
            self._grammar,
            self._settings,
            examples,
            sentences,
            float(self.prune),
            self._seed(),
        )
        pruned = self._pruner.prune(structure, self._jobs())
        trees = [(i, one) for i, one in enumerate(examples) if isinstance(one, Tree)]
        self.pruning_ = {"train": self._pruner.measure(pruned, trees)}
        self._pruner.put_back(pruned, examples, sentences)
        return pruned

    def _derive(
        self,
        examples: Sequence[Example],
        grammar: TreebankGrammar,
        known: Knowledge,
        productions: Sequence[Production],
    ) -> tuple[dict[int, list[int]], dict[int, str]]:
        """Return the codes of whole trees, and why there is no derivation of others."""
        trees = {i: one for i, one in enumerate(examples) if isinstance(one, Tree)}
        numbers = list(trees)
        codes, failed = corpus.find_derivations(
            list(trees.values()), grammar, self._settings
        )
        why = {
            numbers[j]: (productions and describe_lack(trees[numbers[j]], productions))
            or reason
            for j, reason in failed.items()
        }
        why |= known.underivable(examples, bool(self.given_tags))
        return {numbers[j]: own for j, own in codes.items()}, why

    @property
    def _noise(self) -> float:  # type: ignore[override]
        """How random the first weights are."""
        return NOISE if self.states > 1 else 0.0

    def _read_grammar(
        self, examples: Sequence[Example]
    ) -> tuple[GrammarSettings, TreebankGrammar, list[Production]]:
        bits, given_tags = int(self.hash_bits), bool(self.given_tags)
        if self.grammar is not None:
            settings = GrammarSettings(None, 1, given_tags, bits)
            productions = read_productions(self.grammar)
            tagged = known_tags(examples)
            grammar = compile_grammar(productions, tagged, given_tags=given_tags)
            return settings, grammar, productions
        horizontal = None if self.horizontal is None else int(self.horizontal)
        settings = GrammarSettings(horizontal, int(self.vertical), given_tags, bits)
        trees = map(settings.binarize, whole_trees(examples))
        more = known_tags(one for one in examples if not isinstance(one, Tree))
        grammar = read_grammar(trees, more)
        if not grammar.roots:
            raise DataError(
                "no tree is known completely: there is nothing to read a grammar from; "
                "give whole trees, too, or a grammar"
            )
        return settings, grammar, []

    def _check_start(self) -> None:
        """Refuse settings that are not those of the model to go on from."""
        if self._start._settings != self._settings:
            raise DataError(
                "the parser has learnt with other settings of horizontal, vertical, "
                "given_tags or hash_bits; give the same, or fit a new model"
            )

    def _as_start(self) -> ConstituencyParser:
        if self.states > 1 or self._grammar.n_states > 1:
            raise ValueError("forget=True needs states=1; or leave forget out")
        if self.prune > 0 or self._pruner is not None:
            raise ValueError("forget=True needs prune=0; or leave forget out")
        if self._own is not None:
            raise ValueError(
                "forget=True keeps the weights of the parser's own features, not of "
                "rule_features: leave forget out, or rule_features"
            )
        return super()._as_start()

    def _blocks(self) -> Blocks:
        grammar, n_rows = self._grammar, 1 << self._settings.hash_bits
        own = 0 if self._own is None else self._own.n_columns
        return {
            "rules": (grammar.rule_features,),
            "words": (n_rows, grammar.word_classes),
            "spans": (n_rows, grammar.span_classes),
            "splits": (n_rows,),
            "applications": (own,),
        }

    def _output_space(self) -> Any:
        """Return the symbols and the rules, which codes number."""
        return tuple(self._grammar.symbols), tuple(map(tuple, self._grammar.rules))

    def _name_symbols(self) -> None:
        """Name the symbols, and the labels of phrases among them."""
        grammar = self._grammar
        self._labels = LabelCodes(grammar.symbols)
        of_words, found = set(grammar.word_symbols), set()
        for number, symbol in enumerate(grammar.symbols):
            labels = read_symbol(symbol).labels
            found |= set(labels[:-1] if number in of_words else labels)
        self.classes_ = class_array(sorted(found))

    def _evaluator(self, dev: list[Tree], rule_features: Any) -> Evaluate:
        """Make the function that scores weights on development data."""
        if not dev:
            raise DataError("dev: there are no trees")
        measure = find_measure(self.dev_metric, MEASURES)
        rehearse(measure, dev)
        sentences = corpus.as_words(dev, bool(self.given_tags), "dev")
        self._settings.check_memory(self._grammar, sentences, self._jobs())
        check_as_trained(self._own, rule_features, "dev_rule_features")
        if self._pruner is not None and self.pruning_ is not None:
            made = self._settings.structure(self._grammar, sentences)
            pruned = self._pruner.prune(made, self._jobs())
            self.pruning_["dev"] = self._pruner.measure(pruned, list(enumerate(dev)))

        def evaluate(w: FloatArray) -> float:
            model = self._model(w, rule_features)
            return measure(dev, decoding.best_trees(model, sentences)[0])

        return evaluate

    def rule_applications(
        self, sentences: Iterable[Any]
    ) -> list[list[RuleApplication]]:
        """Return the rule applications in the charts: what may be part of a tree.

        These are what `rule_features` are asked for. A parser that is not fitted yet
        reads its grammar from the sentences, which must be trees, as `fit` does.

        Parameters
        ----------
        sentences : iterable
            As in `predict`.

        Returns
        -------
        list of list of RuleApplication
            For every sentence, by start, end and split.

        Examples
        --------
        >>> import io
        >>> from partwise import ConstituencyParser
        >>> from partwise.data import read_brackets
        >>> trees = read_brackets(io.StringIO("(S (NP (NNS dogs)) (VP (VBP bark)))"))
        >>> ConstituencyParser().rule_applications(trees)[0][0]._asdict()["left"]
        'NP+NNS'
        """
        parser = copy.copy(self)
        if not hasattr(self, "weights_"):
            self._check_settings()
            trees = corpus.as_trees(sentences)
            parser._settings, grammar, _ = self._read_grammar(trees)
            parser._grammar = split_symbols(grammar, int(self.states))
            sentences = trees
        words = corpus.as_words(sentences, parser._settings.given_tags)
        encoded = parser._settings.structure(parser._grammar, words)
        return list(name_applications(parser._grammar, encoded))
