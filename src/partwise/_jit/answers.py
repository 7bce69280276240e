"""Structures behind addresses: solvers compile once for all of them.

A kernel that asks a corpus questions need not know what it is. It gets the address of
an image of the corpus, and a table with the address of machine code for every question.
An answer is compiled once for a class of structure and its scratch arrays: it reads of
both what it needs, and asks the structure. Arrays travel between the two by
Numba's own calling convention.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import threading
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core import typing as numba_typing
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate
from numba.extending import intrinsic

from partwise._collecting import without_collecting
from partwise._interrupts import waiting
from partwise._jit.behind import behind, value_at
from partwise._jit.cache import Store, source_of
from partwise._jit.clock import expect, preparing
from partwise._jit.image import Image, image_of, make_image
from partwise._jit.linking import INNER
from partwise._jit.places import SCRATCH, Place, Places
from partwise._jit.reach import Reach
from partwise._jit.sealed import Sealed, SealedScratch

MOST_QUESTIONS = 1024


def is_sealed(kind: Any) -> bool:
    """Say whether a Numba type is that of a structure behind an address."""
    return isinstance(kind, types.BaseNamedTuple) and kind.instance_class is Sealed


# --- what questions take and return ---------------------------------------------------


def _numba_type(annotation: Any) -> Any:
    """Return the type of values that are annotated so."""
    simple = {int: types.int64, float: types.float64, bool: types.boolean}
    if annotation in simple:
        return simple[annotation]
    if annotation is None or annotation is type(None):
        return types.none
    if hasattr(annotation, "_fields"):
        fields = typing.get_type_hints(annotation, include_extras=True)
        kinds = [_numba_type(fields[name]) for name in annotation._fields]
        if len(set(kinds)) == 1:
            return types.NamedUniTuple(kinds[0], len(kinds), annotation)
        return types.NamedTuple(kinds, annotation)
    n_dimensions = 1
    if typing.get_origin(annotation) is typing.Annotated:
        annotation, n_dimensions = typing.get_args(annotation)
    return types.Array(numba.from_dtype(_dtype_in(annotation)), n_dimensions, "C")


def _dtype_in(annotation: Any) -> Any:
    """Return what an annotated array holds; how NumPy spells it depends on versions."""
    parts = [annotation]
    while parts:
        part = parts.pop()
        if isinstance(part, type) and issubclass(part, np.generic):
            return np.dtype(part)
        parts += typing.get_args(part)
    raise TypeError(f"{annotation} does not say what the array holds")


class Form(NamedTuple):
    """What a question takes beside structure and scratch, and what it returns."""

    rest: tuple[Any, ...]
    result: Any
    with_scratch: bool

    @property
    def machine_arguments(self) -> tuple[Any, ...]:
        """The types of the arguments of its machine code."""
        return types.int64, types.int64, types.StarArgTuple.from_types(self.rest)


@functools.cache
def form_of(question: Any) -> Form:
    """Read off its annotations what a question takes and returns."""
    hints = typing.get_type_hints(question.stub, include_extras=True)
    names = list(inspect.signature(question.stub).parameters)
    with_scratch = names[-1] == SCRATCH
    rest = names[1:-1] if with_scratch else names[1:]
    kinds = tuple(_numba_type(hints[name]) for name in rest)
    return Form(kinds, _numba_type(hints["return"]), with_scratch)


# --- the side of the structure --------------------------------------------------------


def _find(context: Any, builder: Any, kind: Any, size: int, address: Any) -> Any:
    """Return what compiled code passes on of the value of a type at an address."""
    stored = context.get_value_type(kind)
    if context.get_abi_sizeof(stored) != size:
        raise TypeError(f"{kind} does not lie in memory as expected")
    place = builder.inttoptr(address, stored.as_pointer())
    return value_at(context, builder, behind(kind), place)


def _make_body(
    question: Any, kinds: tuple[Any, Any], sizes: tuple[int, int]
) -> Callable[..., Any]:
    """Make the function that is an answer: of two addresses, and all the rest."""
    form = form_of(question)
    found = kinds if form.with_scratch else kinds[:1]
    passed_on = tuple(map(behind, found))

    @intrinsic  # type: ignore[untyped-decorator]
    def ask(typing_context: Any, s: Any, ws: Any, rest: Any) -> Any:
        asked = typing_context.resolve_value_type(question)
        inner = asked.get_call_type(
            typing_context, (passed_on[0], *rest.types, *passed_on[1:]), {}
        )

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            values = [
                _find(context, builder, kind, size, address)
                for kind, size, address in zip(found, sizes, args, strict=False)
            ]
            given = cgutils.unpack_tuple(builder, args[2])
            passed = (values[0], *given, *values[1:])
            answer = context.get_function(asked, inner)
            value = answer(builder, _folded(context, builder, inner, passed))
            if form.result is types.none:
                return context.get_dummy_value()
            return context.cast(builder, value, inner.return_type, form.result)

        return form.result(s, ws, rest), generate

    def answer(s, ws, *rest):  # type: ignore[no-untyped-def]
        return ask(s, ws, rest)

    return answer


def _folded(context: Any, builder: Any, inner: Any, values: tuple[Any, ...]) -> Any:
    """Put values into a tuple where a function takes any number of them."""
    parameters = list(inner.pysig.parameters.values())
    if not parameters or parameters[-1].kind is not inspect.Parameter.VAR_POSITIONAL:
        return values
    fixed = len(parameters) - 1
    rest = context.make_tuple(builder, inner.args[fixed], values[fixed:])
    return (*values[:fixed], rest)


def _classes(key: Any) -> set[type]:
    """Return the classes of tuples in what a value is made of."""
    if isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], type):
        return {key[0]}.union(*map(_classes, key[1]))
    return set()


class _Plan(NamedTuple):
    """An answer that is to be compiled, or loaded."""

    question: Any
    body: Callable[..., Any]
    kinds: tuple[Any, ...]
    kind: str
    digest: str
    store: Store

    @property
    def is_stored(self) -> bool:
        """Whether its machine code seems to be on disk."""
        return self.store.has(self.kind, self.digest)

    def carry_out(self) -> Any:
        """Return the result of compiling, from disk if it is there."""
        with preparing():
            found = self.store.load(self.kind, self.digest)
        if found is None:
            with preparing(self.store.name):
                dispatcher = numba.njit(**INNER)(self.body)
                dispatcher.compile(self.kinds)
                (found,) = dispatcher.overloads.values()
                self.store.save(self.kind, self.digest, found)
        return found


class Answers:
    """The machine code of all answers about one type of corpus and of scratch arrays.

    Code is compiled, or loaded, when it is first needed.
    """

    def __init__(self, s: Any, ws: Any, images: tuple[Image, Image | None]):
        self.table = np.zeros(MOST_QUESTIONS, np.int64)
        self._class = type(s)
        self._kinds = numba.typeof(s), None if ws is None else numba.typeof(ws)
        self._sizes = images[0].size, 0 if images[1] is None else images[1].size
        self._classes = {self._class}.union(
            *(_classes(image.key) for image in images if image is not None)
        )
        self._kept: list[Any] = []
        self._lock = threading.Lock()

    def ensure(self, questions: set[Any]) -> None:
        """Have the answers to these questions ready."""
        missing = [q for q in questions if not self.table[q.number]]
        if missing:
            # Ctrl-C would be lost in a callback of the compiler, and code with it.
            with waiting(), without_collecting(), self._lock:
                self._prepare([q for q in missing if not self.table[q.number]])

    def _prepare(self, questions: list[Any]) -> None:
        for question in questions:
            if not question.provided_by(self._class):
                # Says what is missing, as it would in plain Python.
                names = inspect.signature(question.stub).parameters
                question.stub(*(None for _ in names))
        with preparing():
            plans = [self._plan(q) for q in sorted(questions, key=lambda q: q.number)]
        expect(1 + sum(not plan.is_stored for plan in plans))  # and the one who asks
        for plan in plans:
            compiled = plan.carry_out()
            self._kept.append(compiled)
            name = compiled.fndesc.llvm_func_name
            address = compiled.library.get_pointer_to_function(name)
            self.table[plan.question.number] = address

    def _plan(self, question: Any) -> _Plan:
        form = form_of(question)
        body = _make_body(question, self._kinds, self._sizes)
        reach = Reach(question.asking, self._classes)
        shown = f"{question.__name__} behind {self._kinds} {form} {reach.digest}"
        digest = hashlib.sha256(shown.encode()).hexdigest()
        name = f"{question.__name__}_of_{self._class.__name__}"
        # Machine code is linked by name.
        body.__name__ = body.__qualname__ = f"{name}_{digest[:16]}"
        store = Store(source_of(self._class), name)
        kinds = form.machine_arguments
        kind = f"{self._kinds} {kinds}"
        return _Plan(question, body, kinds, kind, digest, store)


_known: dict[Any, Answers] = {}


def _answers(s: Any, ws: Any, image: Image, scratch: Image | None) -> Answers:
    key = image.key, None if scratch is None else scratch.key
    found = _known.get(key)
    if found is None:
        found = _known.setdefault(key, Answers(s, ws, (image, scratch)))
    return found


def _kinds_of(value: Any) -> Any:
    """Return the class of a value, and those of what is in it."""
    kind = type(value)
    return (kind, *map(_kinds_of, value)) if isinstance(value, tuple) else kind


def _classes_in(kinds: Any) -> set[type]:
    if not isinstance(kinds, tuple):
        return set()
    return {kinds[0]}.union(*map(_classes_in, kinds[1:]))


class Asked(NamedTuple):
    """The questions that a kernel may ask: without scratch arrays, and with them."""

    without: set[Any]
    with_scratch: set[Any]


_asked: dict[Any, Asked] = {}


def _questions_in(body: Callable[..., Any], given: list[Any]) -> Asked:
    """Return what a kernel may ask; structures are sealed among what it is given."""
    kinds = body, *map(_kinds_of, given)
    found = _asked.get(kinds)
    if found is None:
        classes = {Sealed}.union(*map(_classes_in, kinds[1:]))
        asked = Reach(body, classes, sealed=True).asked
        with_scratch = {q for q in asked if form_of(q).with_scratch}
        found = _asked[kinds] = Asked(asked - with_scratch, with_scratch)
    return found


class Sealing:
    """Puts structures behind addresses, for one call of a kernel.

    It holds the images of what machine code reads, and has to live as long.
    """

    def __init__(self, body: Callable[..., Any], args: tuple[Any, ...], places: Places):
        self.given = list(args)
        s = _value_at(args, places.structures[0])
        self._image = image_of(s)
        about_s = _answers(s, None, self._image, None)
        self._put(places.structures, Sealed(self._image.address, about_s.table))
        both = None
        if places.scratch:
            ws = _value_at(args, places.scratch[0])
            self._scratch = make_image(ws)
            both = _answers(s, ws, self._image, self._scratch)
            sealed = SealedScratch(self._scratch.address, both.table)
            self._put(places.scratch, sealed)
        asked = _questions_in(body, self.given)
        about_s.ensure(asked.without)
        if both is not None:
            both.ensure(asked.with_scratch)

    def _put(self, places: tuple[Place, ...], value: Any) -> None:
        for k, field in places:
            whole = self.given[k]
            self.given[k] = value if field is None else whole._replace(**{field: value})


def _value_at(args: tuple[Any, ...], place: Place) -> Any:
    argument = args[place.argument]
    return argument if place.field is None else getattr(argument, place.field)


# --- the side of the solver -----------------------------------------------------------


def ask_by_address(question: Any) -> None:
    """Let kernels ask a question of structures behind addresses."""

    class AskByAddress(AbstractTemplate):  # type: ignore[misc]
        key = question

        def generic(self, args: Any, kws: Any) -> Any:
            if kws or not args or not is_sealed(args[0]):
                return None
            form = form_of(question)
            return numba_typing.signature(form.result, *args)

    numba_typing.templates.infer_global(question, types.Function(AskByAddress))

    @lower_builtin(question, types.VarArg(types.Any))  # type: ignore[untyped-decorator]
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        form = form_of(question)
        s_kind, s = sig.args[0], args[0]
        holder_kind, holder = (
            (sig.args[-1], args[-1]) if form.with_scratch else (s_kind, s)
        )
        last = len(args) - 1 if form.with_scratch else len(args)
        rest = [
            _cast(context, builder, args[k], sig.args[k], want)
            for k, want in zip(range(1, last), form.rest, strict=True)
        ]
        address = builder.extract_value(s, 0)
        scratch = builder.extract_value(holder, 0)
        table_kind = holder_kind.types[1]
        table = context.make_array(table_kind)(
            context, builder, builder.extract_value(holder, 1)
        )
        slot = builder.gep(
            table.data, [context.get_constant(types.intp, question.number)]
        )
        arguments = form.machine_arguments
        convention = context.call_conv
        pointer = convention.get_function_type(form.result, arguments).as_pointer()
        code = builder.inttoptr(builder.load(slot), pointer)
        packed = context.make_tuple(builder, arguments[2], rest)
        status, value = convention.call_function(
            builder, code, form.result, arguments, [address, scratch, packed]
        )
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value() if form.result is types.none else value


def _cast(context: Any, builder: Any, value: Any, have: Any, want: Any) -> Any:
    if isinstance(want, types.Array):
        same = (have.dtype, have.ndim, have.layout) == (want.dtype, want.ndim, "C")
        if not same:
            raise TypeError(f"a structure is asked with {have}, not {want}")
        return value
    if isinstance(want, types.BaseTuple):
        return value
    return context.cast(builder, value, have, want)
