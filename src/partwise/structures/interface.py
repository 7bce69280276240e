"""The waist: the questions every structure answers, and all that solvers ask.

A *structure* is a NamedTuple of flat arrays that holds a whole corpus. A solver
never looks inside it; it calls the generic functions below, which are chosen by
the structure's class, in plain Python and inside compiled kernels alike.

Letters: ``s`` the corpus, ``i`` an example, ``w`` the weights, ``theta`` one
score per part, ``mu`` one expected count per part, ``y`` an output as int32
codes, ``ws`` the scratch arrays that `workspace` made.

What a structure must answer is marked *(required)*; the rest has a default or is
asked only by some solvers, which say so before anything compiles.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from partwise._jit import Generic, generic, generic_with_default, kernel
from partwise.structures.random_numbers import next_uniform

Structure: TypeAlias = Any
"""A NamedTuple of flat arrays; which classes there are is an open set."""

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
CodeArray: TypeAlias = NDArray[np.int32]
CodeTable: TypeAlias = Annotated[NDArray[np.int32], 2]

LEAST_PROBABILITY = 1e-100
"""As good as none, and with a logarithm that is finite."""


@generic
def n_examples(s: Structure) -> int:
    """Return how many examples the corpus holds (required)."""
    raise NotImplementedError("n_examples is required of every structure")


@generic
def n_weights(s: Structure) -> int:
    """Return the length of the weight vector (required)."""
    raise NotImplementedError("n_weights is required of every structure")


@generic
def n_parts(s: Structure, i: int) -> int:
    """Return how many parts example `i` has: the length of theta (required)."""
    raise NotImplementedError("n_parts is required of every structure")


@generic
def output_size(s: Structure, i: int) -> int:
    """Return how many int32 codes an output of example `i` takes (required)."""
    raise NotImplementedError("output_size is required of every structure")


@generic
def max_features(s: Structure) -> int:
    """Return a bound on the non-zeros of ``Phi(i, y) - Phi(i, y')`` (required)."""
    raise NotImplementedError("max_features is required of every structure")


@generic
def workspace(s: Structure, k: int) -> Any:
    """Make one thread's scratch arrays, for up to `k` best outputs (required).

    Called from Python, once per pass or thread; nothing is allocated per example.
    """
    raise NotImplementedError("workspace is required of every structure")


@generic_with_default
def visit(s: Structure, i: int, ws: Any) -> None:
    """Prepare example `i` before the other questions about it; often nothing."""


@generic
def part_scores(
    s: Structure, i: int, w: FloatArray, theta: FloatArray, ws: Any
) -> None:
    """Set ``theta_r = w . phi(i, r)`` for every part of example `i` (required)."""
    raise NotImplementedError("part_scores is required of every structure")


@generic
def add_parts(
    s: Structure, i: int, mu: FloatArray, scale: float, w: FloatArray, ws: Any
) -> float:
    """Do ``w += scale * sum_r mu_r phi(i, r)``, `part_scores`' adjoint (required).

    Return the change of ``|w|^2``.
    """
    raise NotImplementedError("add_parts is required of every structure")


# Visits that leave the weights alone may ask for several examples at once, which dense
# features answer by matrix products.


@generic_with_default
def block_size(s: Structure) -> int:
    """Return how many examples to ask for at once; one unless a block is faster."""
    return 1


@generic_with_default
def block_scores(
    s: Structure, start: int, stop: int, w: FloatArray, theta: FloatArray, ws: Any
) -> None:
    """Visit the examples ``start:stop``, a block, and write their `part_scores`.

    One after the other; the default serves blocks of one.
    """
    visit(s, start, ws)
    part_scores(s, start, w, theta, ws)


@generic_with_default
def add_block(
    s: Structure, start: int, stop: int, mu: FloatArray, w: FloatArray, ws: Any
) -> None:
    """Do ``w += sum_r mu_r phi(i, r)`` for all examples of the block visited last."""
    add_parts(s, start, mu, 1.0, w, ws)


@generic
def parts_of(
    s: Structure, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    """Write the parts of output `y`; return how many entries there are (required).

    A part may be listed more than once; its counts add up. `ids` and `counts`
    have room for ``n_parts(s, i) + 2 * output_size(s, i)`` entries.
    """
    raise NotImplementedError("parts_of is required of every structure")


@generic_with_default
def is_output(s: Structure, i: int, y: CodeArray) -> bool:
    """Say whether other questions can be asked about the codes `y`, legal or not.

    Asked of outputs that come from a file. The default trusts them: a structure whose
    checkpoints may come from others answers for itself.
    """
    return True


@generic
def part_row(
    s: Structure, i: int, r: int, idx: IntArray, val: FloatArray, ws: Any
) -> int:
    """Write the sparse feature vector of part `r`; return its length (required)."""
    raise NotImplementedError("part_row is required of every structure")


@generic
def gold(s: Structure, i: int, y: CodeArray) -> None:
    """Write the right output of example `i` (required for training)."""
    raise NotImplementedError("gold is required for training")


@generic_with_default
def right_parts(
    s: Structure, i: int, y: CodeArray, ids: IntArray, counts: FloatArray
) -> int:
    """Write the parts of the right output, as `parts_of` does; `y` has room for it.

    Asked wherever the right output only matters through its parts, so that a structure
    may answer with expected counts: where the right output is known in part, those of
    all that it may be.
    """
    gold(s, i, y)
    return parts_of(s, i, y, ids, counts)


@generic
def add_costs(s: Structure, i: int, theta: FloatArray) -> None:
    """Add the cost of every part to `theta` (required by margin losses)."""
    raise NotImplementedError("add_costs is required by margin losses")


@generic
def cost(s: Structure, i: int, y: CodeArray) -> float:
    """Return the cost of output `y`: zero at gold (required by margin losses)."""
    raise NotImplementedError("cost is required by margin losses")


@generic
def argmax(s: Structure, i: int, theta: FloatArray, y: CodeArray, ws: Any) -> float:
    """Write the best legal output to `y`; return its score, -inf if there is none."""
    raise NotImplementedError("argmax is required by this solver")


@generic_with_default
def shortfall(s: Structure, i: int, ws: Any) -> float:
    """Return how much better an output may be than the one `argmax` just wrote.

    Zero where inference is exact. Losses add it, so that the objective of a relaxed
    structure is never reported lower than it is.
    """
    return 0.0


@generic
def marginals(
    s: Structure, i: int, theta: FloatArray, mu: FloatArray, ws: Any
) -> float:
    """Write the expected count of every part; return ``log Z``."""
    raise NotImplementedError("marginals is required by this solver")


@generic
def log_partition(s: Structure, i: int, theta: FloatArray, ws: Any) -> float:
    """Return ``log Z`` alone."""
    raise NotImplementedError("log_partition is required by this solver")


@generic
def gibbs_scores(
    s: Structure, i: int, mu: FloatArray, theta: FloatArray, ws: Any
) -> None:
    """Write part scores whose Gibbs distribution has the marginals `mu`.

    As nearly as the parts allow: a structure says where its answer is approximate.
    Scores are finite; `mu` should be positive for every part that is legal, since no
    Gibbs distribution gives a legal output no mass. `mu` and `theta` may not overlap.
    """
    raise NotImplementedError("gibbs_scores is required to start from marginals")


@generic
def distribution_of(s: Structure) -> IntArray:
    """Return which distribution every weight is a log-probability of, from 0 on.

    Asked from Python, of the structures of generative models: weights whose
    exponentials add up to at most one have the same number.
    """
    raise NotImplementedError("distribution_of is required by generative models")


@generic_with_default
def innermost(s: Structure) -> Structure:
    """Return the corpus inside a structure that only changes what another one says.

    Called from Python, to ask what it can answer; most are nobody's wrapping.
    """
    return s


@generic_with_default
def untied(s: Structure) -> Structure:
    """Return the same corpus with parts enough for `gibbs_scores` to be exact.

    Outputs, features and weights stay as they are. Called from Python; often there is
    nothing to do.
    """
    return s


@generic
def kbest(
    s: Structure,
    i: int,
    theta: FloatArray,
    k: int,
    ys: CodeTable,
    scores: FloatArray,
    ws: Any,
) -> int:
    """Write the `k` best legal outputs to the rows of `ys`; return how many exist."""
    raise NotImplementedError("kbest is required here")


# --- drawing outputs -----------------------------------------------------------------
# The default decides part by part; a structure that can draw an output in one go, from
# the sums of its dynamic programme, is faster.


class SamplingSpace(NamedTuple):
    """Scratch space of the default of `sample`: one number per part, twice."""

    theta: FloatArray
    mu: FloatArray


@generic_with_default
def n_deciding(s: Structure, i: int) -> int:
    """Return how many of the first parts decide the output, and occur at most once.

    By default all parts do. Asked by the default of `sample` only.
    """
    return n_parts(s, i)


SURE = 50.0
"""A part that has been decided on is e^50 times more probable than not, or less."""
UNDECIDED = 1e-12
"""Parts with a smaller variance than this are decided."""


@generic_with_default
def sample(
    s: Structure,
    i: int,
    theta: FloatArray,
    space: SamplingSpace,
    state: IntArray,
    ys: CodeTable,
    ws: Any,
) -> bool:
    """Draw outputs in proportion to ``exp(score)``, one into every row of `ys`.

    Return False if no output is legal. `state` is that of
    `partwise.structures.random_numbers`, and moves on.

    The default takes the part that is least certain, draws whether it is in the output,
    changes its score so that it is, or is not, and asks for the marginals again, until
    nothing is left to decide: about as often as the output has bits of entropy.
    """
    forced, mu = space.theta, space.mu
    n, n_codes = n_deciding(s, i), output_size(s, i)
    for j in range(ys.shape[0]):
        for r in range(n_parts(s, i)):
            forced[r] = theta[r]
        for _ in range(n + 1):
            if marginals(s, i, forced, mu, ws) == -np.inf:
                return False
            least_sure, variance = -1, UNDECIDED
            for r in range(n):
                if mu[r] * (1.0 - mu[r]) > variance:
                    least_sure, variance = r, mu[r] * (1.0 - mu[r])
            if least_sure < 0:
                break
            present = mu[least_sure]
            if next_uniform(state) < present:
                forced[least_sure] += SURE - np.log(present)
            else:
                forced[least_sure] -= SURE - np.log(1.0 - present)
        if argmax(s, i, forced, ys[j, :n_codes], ws) == -np.inf:
            return False
    return True


# --- several good outputs ------------------------------------------------------------
# Most examples have one, the gold output; a structure whose examples have more answers
# the first two questions, and the third if it can do better than to compare.


@generic_with_default
def n_good(s: Structure, i: int) -> int:
    """Return how many good outputs example `i` has, at least one."""
    return 1


@generic_with_default
def good_at(s: Structure, i: int, j: int, y: CodeArray) -> None:
    """Write the good output number `j`; all are different, and number 0 is gold."""
    gold(s, i, y)


@generic_with_default
def is_good(s: Structure, i: int, y: CodeArray, scratch: CodeArray) -> bool:
    """Say whether `y` is a good output; `scratch` has room for an output."""
    n_codes = output_size(s, i)
    for j in range(n_good(s, i)):
        good_at(s, i, j, scratch)
        same = 0
        while same < n_codes and y[same] == scratch[same]:
            same += 1
        if same == n_codes:
            return True
    return False


# --- on dPhi = Phi(i, y_ref) - Phi(i, y) ---------------------------------------
# The defaults go part by part; a structure that can skip the parts two outputs
# share answers faster. `Diff` is the scratch space of the defaults.


class SparseSum(NamedTuple):
    """A small hash table from weight index to value, for one sparse vector.

    Keys are weight indices, -1 where a slot is free; `slots` lists the taken ones.
    """

    keys: IntArray
    values: FloatArray
    slots: IntArray
    size: IntArray


def make_sparse_sum(capacity: int) -> SparseSum:
    """Make an empty table that can hold `capacity` different indices."""
    n_slots = 8
    while n_slots < 2 * capacity:
        n_slots *= 2
    return SparseSum(
        np.full(n_slots, -1, np.int64),
        np.zeros(n_slots),
        np.zeros(capacity + 1, np.int64),
        np.zeros(1, np.int64),
    )


@kernel
def accumulate(table: SparseSum, index: int, value: float) -> None:
    """Add `value` to the entry `index` of the sparse vector."""
    mask = table.keys.size - 1
    # An odd multiplier spreads neighbours; 64 bits, since int32 would overflow.
    slot = (np.int64(index) * 40503) & mask
    while table.keys[slot] != index:
        if table.keys[slot] < 0:
            table.keys[slot] = index
            table.slots[table.size[0]] = slot
            table.size[0] += 1
            break
        slot = (slot + 1) & mask
    table.values[slot] += value


@kernel
def take_sqnorm(table: SparseSum) -> float:
    """Return the squared norm of the sparse vector and empty the table."""
    total = 0.0
    for j in range(table.size[0]):
        slot = table.slots[j]
        total += table.values[slot] ** 2
        table.keys[slot] = -1
        table.values[slot] = 0.0
    table.size[0] = 0
    return total


class Diff(NamedTuple):
    """Scratch space to compare two outputs; `make_diff` makes it."""

    ids: IntArray
    counts: FloatArray
    idx: IntArray
    val: FloatArray
    total: SparseSum


def make_diff(s: Structure) -> Diff:
    """Make the scratch space that `diff_dot` and the others below need."""
    most_parts, most_codes = largest_sizes(s)
    room = most_parts + 2 * most_codes
    n_features = max_features(s)
    return Diff(
        np.zeros(room, np.int64),
        np.zeros(room),
        np.zeros(n_features, np.int64),
        np.zeros(n_features),
        make_sparse_sum(n_features),
    )


@generic_with_default
def diff_dot(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> float:
    """Return ``w . (Phi(i, y_ref) - Phi(i, y))``."""
    result = 0.0
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        found = parts_of(s, i, y_ref if side == 0 else y, diff.ids, diff.counts)
        for p in range(found):
            n = part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)
            for j in range(n):
                result += sign * diff.counts[p] * diff.val[j] * w[diff.idx[j]]
    return result


@generic_with_default
def diff_add(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    scale: float,
    w: FloatArray,
    diff: Diff,
    ws: Any,
) -> None:
    """Do ``w += scale * (Phi(i, y_ref) - Phi(i, y))``."""
    for side in range(2):
        sign = scale if side == 0 else -scale
        found = parts_of(s, i, y_ref if side == 0 else y, diff.ids, diff.counts)
        for p in range(found):
            n = part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)
            for j in range(n):
                w[diff.idx[j]] += sign * diff.counts[p] * diff.val[j]


@generic_with_default
def diff_entries(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> int:
    """Write all features of ``Phi(i, y_ref) - Phi(i, y)``, with values, to `diff`.

    Return how many; one may come twice. For those who ask `diff_dot` and then
    `diff_add`, where finding features takes longer than using them; -1 where it does
    not, as by default.
    """
    return -1


@generic_with_default
def diff_collect(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> None:
    """Write ``Phi(i, y_ref) - Phi(i, y)`` to ``diff.total``, which must be empty."""
    for side in range(2):
        sign = 1.0 if side == 0 else -1.0
        found = parts_of(s, i, y_ref if side == 0 else y, diff.ids, diff.counts)
        for p in range(found):
            n = part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)
            for j in range(n):
                accumulate(diff.total, diff.idx[j], sign * diff.counts[p] * diff.val[j])


@generic_with_default
def diff_sqnorm(
    s: Structure, i: int, y: CodeArray, y_ref: CodeArray, diff: Diff, ws: Any
) -> float:
    """Return ``|Phi(i, y_ref) - Phi(i, y)|^2``."""
    diff_collect(s, i, y, y_ref, diff, ws)
    return take_sqnorm(diff.total)


# --- weights that follow another vector ----------------------------------------
# With the elastic net steps add to a vector `v`, and the weights are what is left of
# it. These two are asked after `add_parts` or `diff_add` has changed `v`; the defaults
# go feature by feature.


@kernel
def shrink_at(j: int, v: FloatArray, w: FloatArray, l1_ratio: float) -> float:
    """Set the weight `j` to ``soft(v, l1_ratio) / (1 - l1_ratio)``.

    Where ``|v|`` is below `l1_ratio` it is zero. Return the change of its square.
    """
    old = w[j]
    w[j] = (max(v[j] - l1_ratio, 0.0) + min(v[j] + l1_ratio, 0.0)) / (1.0 - l1_ratio)
    return (w[j] - old) * (w[j] + old)


@generic_with_default
def shrink_parts(
    s: Structure,
    i: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    """Let the weights of all parts of example `i` follow `v`, as `shrink_at` does.

    Return the change of ``|w|^2``.
    """
    change = 0.0
    for r in range(n_parts(s, i)):
        for j in range(part_row(s, i, r, diff.idx, diff.val, ws)):
            change += shrink_at(diff.idx[j], v, w, l1_ratio)
    return change


@generic_with_default
def shrunk_scores(
    s: Structure,
    i: int,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    theta: FloatArray,
    ws: Any,
) -> None:
    """Do `part_scores` with the weights that follow `v`.

    By default those are in `w`. Who reads them off `v` instead has an `add_shrunk`
    that need not let `w` follow.
    """
    part_scores(s, i, w, theta, ws)


@generic_with_default
def add_shrunk(
    s: Structure,
    i: int,
    mu: FloatArray,
    scale: float,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    """Do `add_parts` to `v`; return the change of the squares of its weights.

    The weights are brought up to date if `shrunk_scores` needs that.
    """
    add_parts(s, i, mu, scale, v, ws)
    return shrink_parts(s, i, v, w, l1_ratio, diff, ws)


@generic_with_default
def shrink_diff(
    s: Structure,
    i: int,
    y: CodeArray,
    y_ref: CodeArray,
    v: FloatArray,
    w: FloatArray,
    l1_ratio: float,
    diff: Diff,
    ws: Any,
) -> float:
    """Let the weights of all that ``dPhi`` has follow `v`; return as `shrink_parts`."""
    change = 0.0
    for side in range(2):
        found = parts_of(s, i, y_ref if side == 0 else y, diff.ids, diff.counts)
        for p in range(found):
            for j in range(part_row(s, i, diff.ids[p], diff.idx, diff.val, ws)):
                change += shrink_at(diff.idx[j], v, w, l1_ratio)
    return change


REQUIRED: tuple[Generic, ...] = (
    n_examples,
    n_weights,
    n_parts,
    output_size,
    max_features,
    workspace,
    part_scores,
    add_parts,
    parts_of,
    part_row,
    gold,
)
"""What a structure must answer to be trained on, whatever the solver and the loss."""


@kernel
def _largest_sizes(s: Structure) -> tuple[int, int]:
    most_parts, most_codes = 0, 0
    for i in range(n_examples(s)):
        most_parts = max(most_parts, n_parts(s, i))
        most_codes = max(most_codes, output_size(s, i))
    return most_parts, most_codes


def largest_sizes(s: Structure) -> tuple[int, int]:
    """Return the largest number of parts and of output codes of any example."""
    most_parts, most_codes = _largest_sizes(s)
    return int(most_parts), int(most_codes)
