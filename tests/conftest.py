"""Settings of the whole suite, made before anything imports Numba."""

import gc
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from compiling import compile_sooner
from covering import THOROUGH, left_over
from once_more import DOCTESTS, LEFT_OUT, find
from places import ROOT

# What users have is tried in test_full_speed, test_prebuilt and test_wheel.
compile_sooner()

# The workers share what they compile; it stays between runs, so that only changed code
# is compiled.
CACHE = ROOT / "build" / "numba-cache" / os.environ["NUMBA_OPT"]
os.environ["NUMBA_CACHE_DIR"] = str(CACHE)

# Looking for the implementation of a function, Numba paints an error for every one that
# does not fit, and throws it away.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

# The compiler makes many objects: to look through them after every kernel, as happens
# below a million, takes a tenth of its time, and most go by themselves soon after.
gc.set_threshold(2_000_000, 20, 50)

# A shell that starts the suite in the background lets it ignore Ctrl-C, and so would
# every program that it starts; the tests of Ctrl-C need it to work.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests of one group run in one worker: these compile the same kernels.
GROUPS = {
    "test_cli": "command line",
    "test_cli_parse": "command line",
    "test_demo": "command line",
    "test_dependency_parser": "command line",
    "test_documentation": "command line",
    "test_train_options": "command line",
    "test_dual_parts": "part duals",
    "test_dual_robustness": "part duals",
    "test_eg_convergence": "part duals",
    "test_eg_starts": "part duals",
    "test_exponentiated_gradient": "part duals",
    "test_guaranteed_steps": "part duals",
    "test_hybrid": "part duals",
    "test_smo": "part duals",
    "test_solver_memory": "part duals",
    "test_stochastic_dual": "part duals",
    "test_frank_wolfe": "hinge",
    "test_cutting_plane": "hinge",
    "test_perceptron": "mistake driven",
    "test_mira": "mistake driven",
    "test_checkpoint": "taggers",
    "test_c_path": "taggers",
    "test_costs": "taggers",
    "test_dev_metrics": "taggers",
    "test_model_files": "taggers",
    "test_sequence_tagger": "taggers",
    "test_tagger_constraints": "taggers",
    "test_explanations": "taggers",
    "test_parallel": "taggers",
}


# One worker begins with what compiles most, the other with what compiles nothing or for
# itself, the longest last in the list. They meet where all is short and compiled: what
# both compiled at the same time would be compiled twice.
FIRST = ("test_cli",)
LAST = (
    "test_benchmarks",
    "test_kinds",
    "test_full_speed",
    "test_contributing",
    "test_prebuilt",
    "test_jit",
    "test_wheel",
    "test_plain_python",
)


def _turn(item: pytest.Item) -> int:
    """Return when a file has its turn; most keep their order, in the middle."""
    stem = item.path.stem
    return LAST.index(stem) + 1 if stem in LAST else -(stem in FIRST)


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Put what takes long to both ends, and leave out what runs elsewhere."""
    items.sort(key=_turn)
    left_out: set[str] = set()
    if not THOROUGH:
        left_out |= {item.nodeid for item in left_over(items)}
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        # test_plain_python runs them; to skip thousands of tests one by one takes long.
        elsewhere = set(map(find, DOCTESTS.split()))
        left_out |= {
            item.nodeid for item in items if item.path in elsewhere or is_skipped(item)
        }
    if LEFT_OUT in os.environ:
        left_out |= set(Path(os.environ[LEFT_OUT]).read_text().split("\n"))
    gone = [item for item in items if item.nodeid in left_out]
    items[:] = [item for item in items if item.nodeid not in left_out]
    config.hook.pytest_deselected(items=gone)


def is_skipped(item: pytest.Item) -> bool:
    """Say whether a test has a mark that it does not run in this process."""
    return any(mark.args[0] for mark in item.iter_markers("skipif"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the workers whole groups; marks of groups have no effect with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class GroupScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            stem = Path(nodeid.split("::")[0]).stem
            # The groups of plain Python are processes of their own.
            own = nodeid if stem == "test_plain_python" else stem
            return GROUPS.get(stem, own)

        def _assign_work_unit(self, node: Any) -> None:
            # Every other worker begins at the end.
            if self.nodes.index(node) % 2:
                self.workqueue.move_to_end(next(reversed(self.workqueue)), last=False)
            super()._assign_work_unit(node)

    return GroupScheduling(config, log)


@pytest.hookimpl(tryfirst=True)
def pytest_unconfigure() -> None:
    """Keep pytest from looking for cycles, at the end, in all that the suite has made.

    It looks several times, for warnings that would come with them.
    """
    gc.freeze()


# The first example of a test may compile a kernel: no deadlines. On a build
# server the same examples come every time, so that a failure is of the change. Plain
# Python is slow, and the same bodies are tried compiled: fewer examples are enough.
EXAMPLES = 10 if os.environ.get("NUMBA_DISABLE_JIT") else 30
settings.register_profile("partwise", deadline=None, max_examples=EXAMPLES)
settings.register_profile("ci", deadline=None, derandomize=True, max_examples=EXAMPLES)
settings.load_profile("ci" if os.environ.get("CI") else "partwise")


@pytest.fixture
def eager_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share even the smallest corpus."""
    from partwise.structures import ahead, parallel

    monkeypatch.setattr(ahead, "LEAST_THREADS", 2)
    monkeypatch.setattr(parallel, "worth_threads", lambda n_parts, n_sums: n_parts)
