"""What is fuzzed: every format that is read, and what may happen then."""

from __future__ import annotations

import io
import json
import tempfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz import generators
from hostile_checkpoints import Case, every_solver
from partwise import SequenceTagger, data, encode, encoded, load
from partwise.constituents import KnownBrackets
from partwise.errors import ModelFileError, PartwiseError
from partwise.features import TemplateEncoder
from partwise.foreign.crfsuite import write_crfsuite_model
from partwise.model_file.container import read, seal, write
from partwise.model_file.folder import MANIFEST
from partwise.model_file.mapped import HEADER
from places import GOLDEN
from vector_inputs import with_arrays


@dataclass(frozen=True)
class Target:
    """Something that takes bytes.

    Attributes
    ----------
    check : callable
        Takes the bytes; whatever it raises is a finding.
    inputs : callable
        Returns a strategy of inputs.
    seeds : callable
        Returns inputs that are right, to start from.
    """

    check: Callable[[bytes], None]
    inputs: Callable[[], st.SearchStrategy[bytes]]
    seeds: Callable[[], list[bytes]]


# --- model files ---


def _answer(name: str) -> Any:
    """Return inputs that a model of a kind can predict for."""
    if name in ("parser", "second_order"):
        return data.read_trees(GOLDEN / f"{name}-1.conllu")[:2]
    if name == "ranker":
        return data.read_lattices(GOLDEN / "ranker-1.jsonl")[:2]
    inputs = json.loads((GOLDEN / f"{name}-1.json").read_text())["inputs"]
    if name == "labeler":
        return [tuple(graph) for graph in inputs[:2]]
    if name == "pipeline":
        return " ".join(inputs)
    return with_arrays(inputs[:2]) if name == "vectors" else inputs[:2]


KINDS = (
    "tagger", "classifier", "parser", "constituency", "labeler", "ranker",
    "hidden_markov", "network", "segments", "vectors", "pipeline", "second_order",
    "hidden", "hidden_brackets", "order_two",
)  # fmt: skip


def _model_file(name: str) -> bytes:
    return (GOLDEN / f"{name}-1.partwise").read_bytes()


def check_model(name: str, content: bytes) -> None:
    """Load a model; what loads must predict, whatever its weights are."""
    with tempfile.NamedTemporaryFile(suffix=".partwise") as file:
        file.write(seal(content))
        file.flush()
        try:
            model = load(file.name)
        except ModelFileError:
            return
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.predict(_answer(name))
            except PartwiseError:  # a model of other features, say
                return
            except ValueError as error:
                if "features" not in str(error):
                    raise


def _model_target(name: str) -> Target:
    files = [_model_file(name)]
    return Target(
        partial(check_model, name),
        lambda: generators.damaged(files),
        lambda: files,
    )


@cache
def _crfsuite_files() -> list[bytes]:
    """Return a model in CRFsuite's format."""
    X = [[["w=the", "det"], ["w=dog"]], [["w=a"], ["w=cat", "s=at"]]]
    tagger = SequenceTagger(
        loss="log_loss",
        pairs="observed",
        transitions="observed",
        start=False,
        end=False,
    )
    tagger.fit(X, [["D", "N"], ["D", "N"]])
    return [write_crfsuite_model(tagger._chain_model())]


def check_foreign_model(content: bytes) -> None:
    """Load a model of another program; what loads must tag, and be written again."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        try:
            model = load(file.name)
        except ModelFileError:
            return
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.predict([[["the"], ["dog"]]])
                write_crfsuite_model(model._chain_model())
            except PartwiseError:  # weights that are not numbers, say
                return
            except ValueError as error:
                if "CRFsuite file cannot hold" not in str(error):
                    raise


# --- checkpoints ---


@cache
def _cases() -> list[tuple[Case, bytes]]:
    """Return a run of every solver, and its checkpoint after two passes."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (_, make) in enumerate(every_solver()):
            case, path = make(), Path(folder) / str(number)
            case.run(path, max_iter=2)
            found.append((case, path.read_bytes()))
    return found


def check_checkpoint(content: bytes) -> None:
    """Resume the run that the first byte chooses, from the file that follows it."""
    if not content:
        return
    case, _ = _cases()[content[0] % len(_cases())]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(seal(content[1:]))
        try:
            case.run(path, max_iter=3, resume=True)
        except ModelFileError:
            pass


def _checkpoint_seeds() -> list[bytes]:
    return [bytes([n]) + written for n, (_, written) in enumerate(_cases())]


def _checkpoint_inputs() -> st.SearchStrategy[bytes]:
    return st.integers(0, len(_cases()) - 1).flatmap(
        lambda n: generators.damaged([_cases()[n][1]]).map(lambda d: bytes([n]) + d)
    )


# --- texts ---


def check_text(read: Callable[[Any], Any], content: bytes) -> None:
    """Read a text."""
    try:
        read(io.BytesIO(content))
    except PartwiseError:
        pass


def _text_target(
    read: Callable[[Any], Any], good: str, pieces: Sequence[str]
) -> Target:
    return Target(
        partial(check_text, read),
        lambda: generators.texts(pieces),
        lambda: [good.encode()],
    )


def check_template(content: bytes) -> None:
    """Parse a template, and encode a sentence with it."""
    try:
        encoder = TemplateEncoder(content.decode("utf-8", "replace"))
        encoder.fit_encode(data.read_columns(io.StringIO(COLUMNS)))
    except (PartwiseError, ValueError) as error:
        if type(error) is ValueError and "template" not in str(error):
            raise


COLUMNS = "Paris NNP B-LOC\nsleeps VBZ O\n\nIt PRP O\n"
CONLLU = "1\tHush\thush\tINTJ\tUH\t_\t0\troot\t_\t_\n\n"
BRACKETS = "( (S (NP (DT The) (NN dog)) (VP (VBZ barks))) )\n"
KNOWN = "(S (? (DT The) (? dog)) (VP (VBZ barks)))\n(S (\\? !) (X y))\n"
LATTICE = (GOLDEN / "ranker-1.jsonl").read_text().splitlines()[0] + "\n"
TEMPLATE = "# words\nU00:%x[-1,0]/%x[0,0]\nU01:%x[0,1]\nB\nB01:%x[0,1]\n"


def _read_conllu(source: Any) -> Any:
    return data.read_trees(source, "conllu")


def _read_known_brackets(source: Any) -> Any:
    """Read trees that are known in part, and ask what is wrong with them."""
    for tree in data.read_brackets(source, partial=True):
        if isinstance(tree, KnownBrackets) and (wrong := tree.problem()):
            raise ValueError(wrong)  # a file cannot say that brackets cross


def _read_matrix(source: Any) -> Any:
    """Read vectors of NumPy's, with words beside them."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        file.write(source.read())
        file.flush()
        data.read_vectors(file.name, words=io.StringIO("the\nof\n"))


def _matrix_files() -> list[bytes]:
    file = io.BytesIO()
    np.save(file, np.eye(2, 3, dtype=np.float32))
    return [file.getvalue()]


def _read_all_paragraphs(source: Any) -> Any:
    return list(data.read_paragraphs(source))


# For every reader a text that it reads, and the pieces that others are made of.
TEXTS: dict[str, tuple[Callable[[Any], Any], str, str]] = {
    "columns": (data.read_columns, COLUMNS, "Paris| |\t|\n|\n\n|B-LOC|-DOCSTART-"),
    "conllu": (
        _read_conllu, CONLLU, "1|2|0|1-2|1.1|\t|_|root|\n|\n\n|# text = |\t_\t_\t_"
    ),
    "brackets": (data.read_brackets, BRACKETS, "(|)|((|S| |-NONE-|\n|*"),
    "known_brackets": (
        _read_known_brackets, KNOWN, "(|)|((|S|?|\\?|\\| |-NONE-|\n|*"
    ),
    "lattices": (
        data.read_lattices, LATTICE, '{|}|[|]|:|,|"edges"|"nodes"|"good"|1|null|\n'
    ),
    "csv": (data.read_csv, 'a,b\n1,"x\ny"\n', 'a|b|,|\n|"|""|?|\t'),
    "svmhmm": (
        data.read_svmhmm, "1 qid:1 1:0.5 3:1 # Paris\n", "1| |qid:1|qid:|1:|2:0.5|#|\n"
    ),
    "crfsuite": (
        data.read_crfsuite, "B-LOC\tw=Paris\tlen:5\n\n", "O|\t|w=|:|\\:|\\\\|0.5|\n"
    ),
    "gazetteer": (data.read_gazetteer, "city\tParis\n", "city|\t| |[|]|%|\n"),
    "clusters": (data.read_clusters, "0101\tParis\t12\n", "0|01|\t| |word|\n"),
    "vectors": (data.read_vectors, "2 2\nthe 0 1\nof 1 0\n", "2|the| |\t|0|1|.5|\n"),
    "paragraphs": (_read_all_paragraphs, "One.\n\nTwo. \n", "One|.| |\t|\n|\n\n|\r"),
}  # fmt: skip

# Text models of other programs.
CRFPP = (
    "version: 100\ncost-factor: 1\nmaxid: 12\nxsize: 1\n\nD\nN\n\nU00:%x[0,0]\nB\n"
    "B01:%x[0,0]\n\n0 U00:dog\n2 U00:the\n4 B\n8 B01:dog\n\n"
    "-1\n1\n2\n-2\n0\n1\n-1\n0\n0\n0.5\n0\n0\n"
)
WAPITI = (
    "#mdl#2#3\n#rdr#1/1/0\n9:u:%x[0,0],\n#qrk#2\n1:D,\n1:N,\n#qrk#2\n5:u:dog,\n"
    "1:b,\n1=0x1p+0\n2=0x1p+1\n5=0x1.8p+0\n"
)


def _foreign_target(good: str, pieces: str) -> Target:
    lines = [line + "\n" for line in good.splitlines()]
    return Target(
        check_foreign_model,
        lambda: generators.changed_lines(lines, pieces.split("|")),
        lambda: [good.encode()],
    )


# --- encoded corpora ---


@cache
def _encoded_files() -> dict[str, bytes]:
    """Return the files of a folder with an encoded corpus."""
    X = [[{"w": "the", "n": 2.0}, {"w": "dog"}], [{"w": "a"}]]
    with tempfile.TemporaryDirectory() as folder:
        tagger = SequenceTagger(transition_features=["n"])
        corpus = encode(tagger, (X, [["D", "N"], ["D"]]), f"{folder}/corpus")
        return {path.name: path.read_bytes() for path in corpus.path.iterdir()}


def check_encoded(name: str, content: bytes) -> None:
    """Open a folder with one file changed; what opens must be learnt from."""
    with tempfile.TemporaryDirectory() as folder:
        for own, whole in _encoded_files().items():
            Path(folder, own).write_bytes(whole)
        Path(folder, name).write_bytes(seal(content) if name == MANIFEST else content)
        if name != MANIFEST:  # whoever forges an array forges its checksum
            manifest = read(Path(folder, MANIFEST))
            arrays = dict(manifest.settings["arrays"])
            key = name.removesuffix(".npy")
            arrays[key] = [*arrays[key][:2], zlib.crc32(content[HEADER:])]
            settings = {**manifest.settings, "arrays": arrays}
            write(Path(folder, MANIFEST), manifest.tensors, settings, manifest.kind)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                tagger = SequenceTagger("log_loss", solver="lbfgs", max_iter=1)
                tagger.fit(encoded(folder))
            except PartwiseError:
                return


def check_encoded_array(content: bytes) -> None:
    """Change the array that the first byte chooses to what follows it."""
    if content:
        names = _encoded_arrays()
        check_encoded(names[content[0] % len(names)], content[1:])


def _encoded_arrays() -> list[str]:
    return sorted(set(_encoded_files()) - {MANIFEST})


def _encoded_manifests() -> list[bytes]:
    return [_encoded_files()[MANIFEST]]


def _encoded_seeds() -> list[bytes]:
    arrays = enumerate(_encoded_arrays())
    return [bytes([n]) + _encoded_files()[name] for n, name in arrays]


TARGETS: dict[str, Target] = {
    **{f"model_{name}": _model_target(name) for name in KINDS},
    "crfsuite_model": Target(
        check_foreign_model,
        lambda: generators.changed_bytes(_crfsuite_files()),
        _crfsuite_files,
    ),
    "crfpp_model": _foreign_target(CRFPP, "U|B|%x[0,0]|0|8|-1|1e300|\n"),
    "wapiti_model": _foreign_target(WAPITI, "1:|u:|b|*|#qrk#|9|=|0x1p+0|\n"),
    "matrix": Target(
        partial(check_text, _read_matrix),
        lambda: generators.changed_bytes(_matrix_files()),
        _matrix_files,
    ),
    "encoded_manifest": Target(
        partial(check_encoded, MANIFEST),
        lambda: generators.damaged(_encoded_manifests()),
        _encoded_manifests,
    ),
    "encoded_array": Target(
        check_encoded_array,
        lambda: generators.changed_bytes(_encoded_seeds()),
        _encoded_seeds,
    ),
    "checkpoint": Target(check_checkpoint, _checkpoint_inputs, _checkpoint_seeds),
    **{
        name: _text_target(read, good, pieces.split("|"))
        for name, (read, good, pieces) in TEXTS.items()
    },
    "template": Target(
        check_template,
        lambda: generators.texts("U|B|00:|%x|[|0|,|-1|]|/|\n|#|%m|%t|(".split("|")),
        lambda: [TEMPLATE.encode()],
    ),
}
