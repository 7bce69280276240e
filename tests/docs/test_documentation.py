"""Everything that README and documentation print runs, and prints what they say.

Of each page, the ``python`` blocks run in order in one namespace, and the lines of
``console`` blocks that start with ``$`` in one folder. A ``text`` block right after a
``python`` block is what that block prints; ``...`` stands for anything. A block that
cannot run here has a comment ``<!-- not run: reason -->`` in the line before it.
"""

import doctest
import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import problems
from partwise.cli.app import app
from places import ROOT

DOCS = ROOT / "docs"
# The pages of docs/examples are run by test_examples.
PAGES = [ROOT / "README.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")])]
FENCE = re.compile(
    r"^(?P<skip><!-- not run: (?P<reason>.*?) -->\n)?"
    r"```(?P<kind>\w+)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = ("python", "console", "bash", "sh", "pycon")
# What they compile would take longer than all they do; test_plain_python runs them.
IN_PLAIN_PYTHON = (
    "bayesian_networks.md",
    "coming_from.md",
    "costs.md",
    "hidden_markov.md",
    "linear_programs.md",
)
FIGURE = re.compile(r"\]\((?:guide/)?figures/(\w+\.svg)\)")
NUMBER = re.compile(r"\d+\.\d+")
REDRAW = "PARTWISE_REDRAW"
"""Set to draw the figures of the pages anew."""
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
BROKEN_PIPE = 141  # what a command returns whose reader, such as head, has enough


class Block(NamedTuple):
    kind: str
    line: int
    body: str
    output: str | None


def blocks(page):
    """Return the blocks of a page that run, with the output they should give."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    result = []
    for number, match in enumerate(found):
        if match["skip"] or match["kind"] not in RUNNABLE:
            continue
        output = None
        if number + 1 < len(found):
            after = found[number + 1]
            is_next = not text[match.end() : after.start()].strip()
            if is_next and after["kind"] == "text":
                output = after["body"]
        line = text.count("\n", 0, match.start("body"))
        result.append(Block(match["kind"], line, match["body"], output))
    return result


def pages_with(kind):
    return [
        pytest.param(page, id=str(page.relative_to(ROOT)))
        for page in PAGES
        if any(block.kind == kind for block in blocks(page))
        and (page.name in IN_PLAIN_PYTHON) == problems.PLAIN_PYTHON
    ]


def assert_printed(want, got, place):
    if not doctest.OutputChecker().check_output(want, got, LENIENT):
        pytest.fail(f"{place} prints\n{got}\nbut the page says\n{want}", pytrace=False)


@pytest.mark.parametrize("page", pages_with("python"))
def test_documentation_python_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for block in blocks(page):
        if block.kind != "python":
            continue
        # Empty lines in front make line numbers in tracebacks those of the page.
        code = compile("\n" * block.line + block.body, str(page), "exec")
        with redirect_stdout(io.StringIO()) as printed:
            exec(code, namespace)
        place = f"{page.relative_to(ROOT)}:{block.line + 1}"
        if block.output is not None:
            assert_printed(block.output, printed.getvalue(), place)
        elif printed.getvalue():
            pytest.fail(f"{place} prints what the page does not show", pytrace=False)
    for name in FIGURE.findall(page.read_text(encoding="utf-8")):
        assert_drawn(DOCS / "guide" / "figures" / name, tmp_path / name)


def assert_drawn(shown, drawn):
    """Check that the figure of a page is what its code draws, up to rounding."""
    assert drawn.is_file(), f"the page shows {shown.name}, but does not draw it"
    new = drawn.read_text(encoding="utf-8")
    if REDRAW in os.environ:
        shown.parent.mkdir(exist_ok=True)
        shown.write_text(new, encoding="utf-8")
    old = shown.read_text(encoding="utf-8")
    assert NUMBER.split(old) == NUMBER.split(new)
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    assert all(abs(float(a) - float(b)) < 0.11 for a, b in pairs)


def test_documentation_shows_every_figure():
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    figures = {path.name for path in (DOCS / "guide" / "figures").iterdir()}
    assert figures == set(FIGURE.findall(text))
    assert all(
        p.stat().st_size < 10_000 for p in (DOCS / "guide" / "figures").iterdir()
    )


def commands(block):
    """Return pairs of a command and the output shown below it."""
    pieces = re.split(r"^\$ ", block.body, flags=re.MULTILINE)
    assert not pieces[0].strip(), f"line {block.line}: a command starts with '$ '"
    return [tuple(piece.split("\n", 1)) for piece in pieces[1:]]


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console"))
def test_documentation_commands_print_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        if block.kind != "console":
            continue
        for command, want in commands(block):
            # To start a program takes longer than most commands: those of the README
            # do, and those that a shell has to put together.
            alone = page.name != "README.md" and ALONE.fullmatch(command)
            code, printed, said = (run_here if alone else run_in_a_shell)(command)
            place = f"{page.relative_to(ROOT)}: {command}"
            assert code in (0, BROKEN_PIPE), f"{place}\n{said}"
            assert_printed(want, printed, place)


ALONE = re.compile(r"partwise [^|<>&;$*`\\]*")


def run_here(command):
    """Run a command of the program in this process."""
    _, *arguments = shlex.split(command)
    done = CliRunner().invoke(app, arguments)
    return done.exit_code, done.stdout, done.stderr


def run_in_a_shell(command):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documentation_blocks_run_or_say_why_not(page):
    text = page.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start("body"))
        if match["skip"]:
            assert match["reason"].strip(), f"line {line}: give the reason"
        elif match["kind"] in RUNNABLE:
            assert match["kind"] in ("python", "console"), f"line {line}: never run"


def test_documentation_commands_and_options_are_all_described():
    from typer.main import get_command

    from partwise.cli.app import app

    page = (DOCS / "guide" / "command_line.md").read_text(encoding="utf-8")
    _, *sections = re.split(r"^## partwise ", page, flags=re.MULTILINE)
    described = {}
    for section in sections:
        name, _, body = section.partition("\n")
        cells = [line.split("|")[1] for line in body.splitlines() if line[:1] == "|"]
        described[name] = set(re.findall(r"`(--?\w[\w-]*)", " ".join(cells)))

    def walk(command, name):
        for key, child in getattr(command, "commands", {}).items():
            yield from walk(child, f"{name} {key}".strip())
        if not hasattr(command, "commands"):
            options = [p for p in command.params if p.param_type_name == "option"]
            flags = {flag for p in options for flag in (*p.opts, *p.secondary_opts)}
            yield name, flags - {"--help", "-h"}

    assert described == dict(walk(get_command(app), ""))


def test_documentation_commands_are_all_in_the_readme():
    from typer.main import get_command

    from partwise.cli.app import app

    commands = dict(get_command(app).commands)
    names = [f"train {name}" for name in commands.pop("train").commands]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [n for n in (*names, *commands) if f"| `partwise {n}` |" not in text]
    assert missing == []


def test_documentation_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[\w-]+)?\)", text)
    assert targets
    for target in targets:
        assert (ROOT / target).exists(), target


def test_documentation_reference_lists_every_public_name():
    import importlib

    import partwise

    listed = set(
        re.findall(
            r"^   ([\w.]+)$",
            (DOCS / "api.md").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    listed = {name.rpartition(".")[2] for name in listed}
    public = set(partwise.__all__) - {"__version__"}
    for module in ("data", "metrics", "solvers", "structures", "synthetic"):
        public |= set(importlib.import_module(f"partwise.{module}").__all__)
    assert public - listed <= {"Tree"}  # an alias of nested tuples
