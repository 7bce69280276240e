"""The waist as a solver meets it: every question asked from compiled code.

A waist function called from Python runs its plain body. The kernels here have the
same names and do nothing but ask, so that ``ask.argmax(...)`` is a test of either
world, depending on whether `ask` is the waist or this module.
"""

from partwise._jit import kernel
from partwise.structures import Chain, Multiclass
from partwise.structures import interface as waist


class PlainChain(Chain):
    """A chain that compares outputs part by part, by the defaults of the waist."""


class PlainMulticlass(Multiclass):
    """Classes compared by the defaults of the waist."""


PLAIN_CLASSES = {Chain: PlainChain, Multiclass: PlainMulticlass}

for _plain in PLAIN_CLASSES.values():
    for _question in (waist.diff_dot, waist.diff_add, waist.diff_sqnorm):
        _question.implement(_plain)(_question.dispatch(object))


@kernel
def part_scores(s, i, w, theta, ws):
    waist.visit(s, i, ws)
    waist.part_scores(s, i, w, theta, ws)


@kernel
def add_parts(s, i, mu, scale, w, ws):
    return waist.add_parts(s, i, mu, scale, w, ws)


@kernel
def parts_of(s, i, y, ids, counts):
    return waist.parts_of(s, i, y, ids, counts)


@kernel
def part_row(s, i, r, idx, val, ws):
    return waist.part_row(s, i, r, idx, val, ws)


@kernel
def gold(s, i, y):
    waist.gold(s, i, y)


@kernel
def add_costs(s, i, theta):
    waist.add_costs(s, i, theta)


@kernel
def cost(s, i, y):
    return waist.cost(s, i, y)


@kernel
def argmax(s, i, theta, y, ws):
    return waist.argmax(s, i, theta, y, ws)


@kernel
def kbest(s, i, theta, k, ys, scores, ws):
    return waist.kbest(s, i, theta, k, ys, scores, ws)


@kernel
def marginals(s, i, theta, mu, ws):
    return waist.marginals(s, i, theta, mu, ws)


@kernel
def log_partition(s, i, theta, ws):
    return waist.log_partition(s, i, theta, ws)


@kernel
def diff_dot(s, i, y, y_ref, w, diff, ws):
    return waist.diff_dot(s, i, y, y_ref, w, diff, ws)


@kernel
def diff_add(s, i, y, y_ref, scale, w, diff, ws):
    waist.diff_add(s, i, y, y_ref, scale, w, diff, ws)


@kernel
def diff_sqnorm(s, i, y, y_ref, diff, ws):
    return waist.diff_sqnorm(s, i, y, y_ref, diff, ws)
