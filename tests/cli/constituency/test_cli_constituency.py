"""Constituency parsers on the command line: brackets in, models and brackets out."""

import gzip
import io
import json
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import partwise
import problems
from command_line import message, run
from partwise.cli.constituency.demo import DEMO
from partwise.cli.demo import train_and_show
from partwise.constituents import Tree, spans, words
from partwise.data import read_brackets, write_brackets
from partwise.drawing import draw_constituents_text
from partwise.metrics.brackets import bracket_scores
from partwise.synthetic import Corpus, make_corpus

plain = pytest.mark.skipif(not problems.PLAIN_PYTHON, reason="more to compile")

FEW = ["--max-iter", "2", "--hash-bits", "6", "--quiet"]
DOGS = "(S (NP (NNS Dogs)) (VP (VBP bark)))"
FUNCTIONS = "( (S (NP-SBJ (NNS Dogs)) (VP (VBP bark) (NP (-NONE- *)))))\n"


def short_trees(n: int, seed: int) -> list[Tree]:
    trees = make_corpus(60 * n, seed).to_constituents()
    return [tree for tree in trees if len(words(tree)) <= 5][:n]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("constituency")
    write_brackets(path / "train.mrg", short_trees(6, 0))
    write_brackets(path / "test.mrg", short_trees(3, 1))
    return path


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    path = folder / "m.partwise"
    run("train", "constituency", folder / "train.mrg", "-m", path, *FEW)
    return path


# --- training


@plain
def test_train_constituency_passes_every_setting_on(
    folder: Path, tmp_path: Path
) -> None:
    grammar, path = tmp_path / "grammar.txt", tmp_path / "m"
    grammar.write_text("S -> NP VP\nNP -> NNS\nVP -> VBP\n")
    (tmp_path / "train.mrg").write_text(f"{DOGS}\n(S (NP (NNS Dogs)) (. .))\n")
    options = [
        *("--grammar", grammar, "--underivable", "skip", "--given-tags"),
        *("--span-cost", "2", "--word-cost", "0.5", "--loss", "hinge", "--C", "3"),
        *("--solver", "smo", "--seed", "7", "--penalty", "l2", "--tol", "0.5"),
    ]
    run("train", "constituency", tmp_path / "train.mrg", "-m", path, *options, *FEW)
    settings = partwise.load(path).get_params(deep=False)
    wanted = {
        **{"given_tags": True, "underivable": "skip", "hash_bits": 6, "max_iter": 2},
        **{"span_cost": 2.0, "word_cost": 0.5, "loss": "hinge", "C": 3.0, "tol": 0.5},
        **{"random_state": 7},
    }
    assert {name: settings[name] for name in wanted} == wanted
    run("train", "constituency", folder / "train.mrg", "-m", path, *FEW,
        "--horizontal", "all", "--vertical", "2")  # fmt: skip
    assert partwise.load(path).horizontal is None
    assert partwise.load(path).vertical == 2


@plain
def test_train_constituency_shows_dev_and_leaves_long_ones_out(
    folder: Path, tmp_path: Path
) -> None:
    train = tmp_path / "train.mrg"
    long = Tree("S", tuple(Tree("UH", ("oh",)) for _ in range(6)))
    write_brackets(train, [*read_brackets(folder / "train.mrg"), long])
    found = run(
        *("train", "constituency", train, "-m", tmp_path / "m", *FEW, "--json"),
        *("--dev", folder / "test.mrg", "--max-length", "5"),
    )
    numbers = json.loads(found.stdout)
    assert numbers["sentences"] == 6
    gold = read_brackets(folder / "test.mrg")
    assert numbers["dev"]["f1"] == partwise.load(tmp_path / "m").score(gold)
    assert "more than 2 words" in message(
        *("train", "constituency", train, "-m", tmp_path / "m", "--max-length", 2)
    )


def test_train_constituency_mistakes_say_what_to_do(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.mrg", tmp_path / "bad.mrg"
    good.write_text(DOGS)
    bad.write_text(f"{DOGS}\n(S (NP (NNS Dogs))\n")
    train = ["train", "constituency"]
    to = ["-m", tmp_path / "m"]
    assert f"{bad}:2: the tree that begins here is never closed" in message(
        *train, bad, *to
    )
    assert "--horizontal must be a number or all, not 'x'" in message(
        *train, good, *to, "--horizontal", "x"
    )
    assert "horizontal must be an integer from 0" in message(
        *train, good, *to, "--horizontal", "-1"
    )
    assert "are the same file" in message(*train, good, "-m", good)
    (tmp_path / "empty.mrg").write_text("# nothing\n")
    assert "holds no trees" in message(*train, tmp_path / "empty.mrg", *to)
    (tmp_path / "grammar").write_text("S -> A B\nA -> NNS\nB -> NNS\n")
    assert "--underivable skip leaves these trees out" in message(
        *train, good, *to, "--grammar", tmp_path / "grammar"
    )


def test_demo_saves_constituents(tmp_path: Path) -> None:
    shown = run("demo", "--constituents", "--size", 20, "--save-data", tmp_path).stdout
    assert "partwise train constituency" in shown
    assert len(read_brackets(tmp_path / "train.mrg")) == 16
    assert "not both" in message("demo", "--constituents", "--trees")


@plain
def test_demo_learns_and_draws_constituents(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = partial(partwise.ConstituencyParser, hash_bits=6, max_iter=2)
    monkeypatch.setattr(partwise, "ConstituencyParser", small)
    sentences = make_corpus(300).sentences
    corpus = Corpus(tuple(one for one in sentences if len(one.words) <= 6)[:4])
    train_and_show(corpus, corpus, seed=0, json=False, task=DEMO)
    shown = capsys.readouterr().out
    assert "Training on 4 generated sentences of at most 15 words" in shown
    assert "test F1" in shown
    assert "S 1.00─┬─" in shown
    assert "partwise show demo/test.mrg" in shown
    train_and_show(corpus, corpus, seed=0, json=True, task=DEMO)
    assert json.loads(capsys.readouterr().out)["test"]["n_sentences"] == 4


# --- predicting


@plain
def test_predict_constituents_reads_trees_and_sentences(
    folder: Path, model: Path
) -> None:
    gold = read_brackets(folder / "test.mrg")
    predicted = partwise.load(model).predict(gold)
    from_trees = run("predict", model, folder / "test.mrg").stdout
    assert read_brackets(io.StringIO(from_trees)) == predicted
    assert len(from_trees.splitlines()) == len(gold)
    sentences = "\n".join("  ".join(words(tree)) for tree in gold) + "\n\n"
    assert run("predict", model, "-", stdin=sentences).stdout == from_trees
    packed = gzip.compress((folder / "test.mrg").read_bytes())
    assert run("predict", model, "-", stdin=packed).stdout == from_trees
    text = run("predict", model, "-", stdin="( He left )\nf(x)").stdout
    first, second = read_brackets(io.StringIO(text))
    assert words(first) == ("-LRB-", "He", "left", "-RRB-")
    assert words(second) == ("f-LRB-x-RRB-",)


@plain
@pytest.mark.parametrize(
    "sentence",
    ["(Laughter) He said it .", "(I think) so .", "(I think) (so)", "(I think so ."],
)
def test_predict_constituents_takes_sentences_that_begin_with_a_bracket(
    model: Path, sentence: str
) -> None:
    [tree] = read_brackets(
        io.StringIO(run("predict", model, "-", stdin=sentence).stdout)
    )
    expected = sentence.replace("(", "-LRB-").replace(")", "-RRB-")
    assert " ".join(words(tree)) == expected


@plain
@pytest.mark.parametrize(
    "text", [DOGS, f"({DOGS})", DOGS.replace(" (VP", "\n (VP"), f"{DOGS} {DOGS}"]
)
def test_predict_constituents_takes_trees_of_any_layout(model: Path, text: str) -> None:
    shown = run("predict", model, "-", stdin=text).stdout
    found = [words(tree) for tree in read_brackets(io.StringIO(shown))]
    assert found == [("Dogs", "bark")] * text.count("NNS")


@plain
def test_predict_constituents_mistaken_trees_name_the_option(model: Path) -> None:
    text = "(I think)\nso .\n"
    result = run("predict", model, "-", stdin=text, code=2)
    assert '<stdin>:2: "so" is outside' in result.stderr
    assert "for sentences: --format sentences" in result.stderr
    run("predict", model, "-", "--format", "sentences", stdin=text)
    asked = run("predict", model, "-", "--format", "brackets", stdin=text, code=2)
    assert "for sentences" not in asked.stderr


@plain
def test_predict_constituents_names_words_that_no_rule_produces(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text("(S (NP Dogs) (VP bark))")
    (tmp_path / "grammar").write_text("S -> NP VP\nNP -> 'Dogs'\nVP -> 'bark'\n")
    path = tmp_path / "m"
    run("train", "constituency", tmp_path / "train.mrg", "-m", path, *FEW,
        "--grammar", tmp_path / "grammar")  # fmt: skip
    result = run("predict", path, "-", stdin="Dogs bark\nCats bark\n")
    assert "and marked; no rule produces 'Cats'" in result.stderr


@plain
def test_predict_constituents_adds_what_is_asked_for(folder: Path, model: Path) -> None:
    gold = read_brackets(folder / "test.mrg")
    parser = partwise.load(model)
    marked = run("predict", model, folder / "test.mrg", "--marginals").stdout
    assert read_brackets(io.StringIO(marked)) == parser.predict(gold)
    probabilities = parser.predict_marginals(gold)
    lines = iter(marked.splitlines())
    for tree, own in zip(parser.predict(gold), probabilities, strict=True):
        for bracket in spans(tree):
            label, start, end, share = next(lines).removeprefix("# ").split()
            assert (label, int(start), int(end)) == bracket
            assert float(share) == pytest.approx(min(own.get(bracket, 0), 1), abs=1e-4)
        next(lines)
    ranked = run("predict", model, folder / "test.mrg", "--kbest", 2).stdout
    best = [ranking[:2] for ranking in parser.predict_kbest(gold, 2)]
    assert read_brackets(io.StringIO(ranked)) == [t for own in best for t, _ in own]
    assert ranked.startswith(f"# rank 1 score {best[0][0][1]:.6f}\n(")
    file = folder / "test.mrg"
    found = run("predict", model, file, "--marginals", "--json").stdout
    objects = [json.loads(line) for line in found.splitlines()]
    assert [one["tree"] for one in objects] == [str(t) for t in parser.predict(gold)]
    assert objects[0]["brackets"][0]["label"] == parser.predict(gold)[0].label
    found = run("predict", model, file, "--kbest", 2, "--json").stdout
    assert json.loads(found.splitlines()[0])["kbest"][0]["tree"] == str(best[0][0][0])


@plain
def test_predict_constituents_with_given_tags(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text(f"{DOGS}\n(S (NP (NNS Cats)) (VP (VB run)))")
    path = tmp_path / "m"
    run("train", "constituency", tmp_path / "train.mrg", "-m", path, "--given-tags",
        *FEW)  # fmt: skip
    shown = run("predict", path, "-", stdin="A/B/NNS bark/VB\n").stdout
    assert shown == "(S (NP (NNS A/B)) (VP (VB bark)))\n"
    assert "<stdin>:2: 'bark' has no tag" in run(
        "predict", path, "-", stdin="\nDogs/NNS bark\n", code=2
    ).stderr  # fmt: skip


@plain
def test_predict_constituents_marks_what_has_no_parse(tmp_path: Path) -> None:
    (tmp_path / "train.mrg").write_text(DOGS)
    path = tmp_path / "m"
    run("train", "constituency", tmp_path / "train.mrg", "-m", path, *FEW)
    result = run("predict", path, "-", stdin="Dogs bark\nDogs bark Dogs\n")
    first, remark, flat = result.stdout.splitlines()
    assert first == DOGS
    assert remark == "# no parse"
    assert flat.startswith("(S (NNS Dogs) ")
    assert "1 of 2 sentences have no tree under the grammar (the first is" in (
        result.stderr
    )
    assert "<stdin>:2" in result.stderr
    (tmp_path / "gold.mrg").write_text(
        f"{DOGS}\n(S (S (NNS Dogs) (VBP bark)) (NNS Dogs))"
    )
    evaluated = run("evaluate", path, tmp_path / "gold.mrg", "--json")
    assert json.loads(evaluated.stdout)["recall"] == pytest.approx(4 / 5)
    assert "gold.mrg:2): their trees are flat" in evaluated.stderr


@plain
def test_predict_constituents_options_of_others_are_refused(
    folder: Path, model: Path
) -> None:
    file = folder / "test.mrg"
    for option, wanted in (("--spans", "taggers"), ("--decoding=best", "dependency")):
        assert f"is for {wanted}" in message("predict", model, file, option)
    wanted = "taggers, dependency parsers and pipelines"
    assert f"--format conllu is for {wanted}, but" in message(
        *("predict", model, file, "--format", "conllu")
    )
    assert "is for dependency parsers" in message(
        *("show", file, "--model", model, "--alternatives")
    )
    said = message("inspect", model, "--label", "S")
    assert (
        "is for taggers, segment taggers, hidden Markov models and classifiers" in said
    )


@plain
def test_inspect_says_what_is_in_a_constituency_parser(model: Path) -> None:
    parser = partwise.load(model)
    found = json.loads(run("inspect", model, "--json").stdout)
    assert found["kind"] == "ConstituencyParser"
    assert found["labels"] == parser.classes_.tolist()
    assert found["grammar"]["rules"] == len(parser._grammar.rules)
    assert "trees in brackets" in run("inspect", model).stdout


# --- evaluating and drawing


@plain
def test_evaluate_constituents_model_and_two_files_agree(
    folder: Path, model: Path, tmp_path: Path
) -> None:
    gold, predicted = folder / "test.mrg", tmp_path / "predicted.mrg"
    run("predict", model, gold, "-o", predicted)
    by_model = run("evaluate", model, gold, "--json").stdout
    assert by_model == run("evaluate", gold, predicted, "--json").stdout
    right = read_brackets(gold)
    scores = bracket_scores(right, partwise.load(model).predict(right))
    assert json.loads(by_model) == json.loads(json.dumps(scores.to_dict()))


def test_evaluate_brackets_shows_what_evalb_counts(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold.mrg", tmp_path / "predicted.mrg"
    gold.write_text(FUNCTIONS * 2 + DOGS)
    predicted.write_text(f"# rank 1\n{DOGS}\n(())\n(TOP {DOGS.replace('NP', 'PP')})\n")
    found = json.loads(run("evaluate", gold, predicted, "--json").stdout)
    assert (found["n_sentences"], found["n_failed"]) == (3, 1)
    assert (found["f1"], found["exact_match"]) == (pytest.approx(5 / 6), 0.5)
    shown = run("evaluate", gold, predicted, "--cutoff", 1).stdout
    assert "at most 1 words" in shown
    assert "83.33%" in shown
    assert "brackets by label" in shown
    kept = run("evaluate", gold, gold, "--keep-functions", "--json").stdout
    assert json.loads(kept)["f1"] == 1.0


def test_evaluate_brackets_mistakes_say_what_to_do(tmp_path: Path) -> None:
    gold, other = tmp_path / "gold.mrg", tmp_path / "other.mrg"
    gold.write_text(f"{DOGS}\n{DOGS}\n")
    other.write_text(f"{DOGS}\n{DOGS.replace('bark', 'run')}\n")
    assert f"tree 1 ({gold}:2): word 2 is 'bark' in gold, but 'run'" in message(
        "evaluate", gold, other
    )
    other.write_text(DOGS)
    assert "gold has 2 trees, but predicted has 1" in message("evaluate", gold, other)
    other.write_text("(S\n(NP Dogs bark))")
    assert f'{other}:2: the word "Dogs"' in message("evaluate", gold, other)
    assert "--no-subtypes is for dependency parsers" in message(
        "evaluate", gold, gold, "--no-subtypes"
    )
    assert "--scheme is for taggers" in message(
        *("evaluate", gold, gold, "--scheme", "IOB2")
    )
    assert "cannot both be standard input" in message("evaluate", "-", "-", stdin=DOGS)


def test_show_draws_brackets_of_files_and_pipes(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text(FUNCTIONS * 12)
    (tree,) = read_brackets(io.StringIO(DOGS))
    drawn = draw_constituents_text(tree)
    result = run("show", path)
    assert result.stdout.count(drawn) == 10
    assert result.stdout.startswith(f"sentence 1 ({path}:1)\n{drawn}\n")
    assert "--limit N shows more" in result.stderr
    assert drawn in run("show", "-", stdin=FUNCTIONS).stdout
    assert drawn in run("show", "-", stdin=gzip.compress(FUNCTIONS.encode())).stdout
    assert "NP-SBJ" in run("show", path, "--limit", 1, "--keep-functions").stdout
    run("show", path, "--sentence", 2, "--svg", tmp_path / "tree.svg")
    root = ElementTree.parse(tmp_path / "tree.svg").getroot()
    assert root[0].text == f"sentence 2 ({path}:2)"


def test_show_takes_a_bracket_for_a_word_of_another_format(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("(\t-LRB-\t2\nhush\tUH\t0\n")
    assert "1  (     -LRB-" in run("show", path).stdout


@plain
def test_show_draws_what_the_constituency_parser_says(
    folder: Path, model: Path
) -> None:
    gold = read_brackets(folder / "test.mrg")[:1]
    parser = partwise.load(model)
    [tree], [shares] = parser.predict(gold), parser.predict_marginals(gold)
    assert isinstance(tree, Tree)
    own: Any = {bracket: min(shares[bracket], 1.0) for bracket in spans(tree)}
    show = ["show", folder / "test.mrg", "--model", model, "--sentence", 1]
    assert draw_constituents_text(tree) in run(*show).stdout
    assert draw_constituents_text(tree, own) in run(*show, "--marginals").stdout
    ranked = run(*show, "--kbest", 2).stdout
    assert "rank 1, score" in ranked
    assert draw_constituents_text(parser.predict_kbest(gold, 2)[0][0][0]) in ranked
    sentence = " ".join(words(tree))
    piped = run("show", "-", "--model", model, stdin=sentence).stdout
    assert draw_constituents_text(tree) in piped


def test_show_brackets_mistakes_say_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "trees.mrg"
    path.write_text(DOGS)
    assert "give a model as well" in message("show", path, "--marginals")
    said = message("show", path, "--format", "sentences")
    assert "is for constituency parsers, but no model was given" in said
    assert "there is no sentence 3" in message("show", path, "--sentence", 3)


@plain
def test_training_continues_from_a_model(folder: Path, model: Path) -> None:
    (folder / "new.mrg").write_text("(S (NP (NNS Dogs)) (NEW (VBP bark)))")
    asked = "train", "constituency", folder / "new.mrg", "--continue", model
    run(*asked, "-m", folder / "more", "-q")
    before, after = partwise.load(model), partwise.load(folder / "more")
    assert {*before.classes_} < {*after.classes_}
    assert (after.hash_bits, after.max_iter) == (6, before.max_iter)
