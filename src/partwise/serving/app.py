"""The server: models by name, answers as JSON, a page to try them on."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import time
from collections.abc import AsyncIterator, Callable, Sequence
from functools import cache, partial
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request
from fastapi.responses import (
    HTMLResponse,
    JSONResponse,
    PlainTextResponse,
    StreamingResponse,
)
from pydantic import BaseModel, Field

from partwise.errors import PartwiseError
from partwise.pages.document import SERVED, render, view_data
from partwise.serving.counting import Counts
from partwise.serving.inputs import read_input, size_of, written
from partwise.serving.limits import BodyLimits
from partwise.serving.models import Busy, ServedModel

SCRIPTS = ("elements.js", "drawings.js", "browser.js", "try.js")
MOST_REASONS = 5
REFUSED = (PartwiseError, ValueError, TypeError, KeyError, IndexError)


class PlainJSON(JSONResponse):
    r"""JSON in ASCII: whatever clients sent in words, it can be written and printed.

    Numbers that are not finite, such as the margin over nothing, are null.

    Examples
    --------
    >>> PlainJSON({"word": "\ud800", "margin": float("inf")}).body
    b'{"word":"\\ud800","margin":null}'
    """

    def render(self, content: Any) -> bytes:
        """Return the body of a response."""
        text = json.dumps(_finite(content), allow_nan=False, separators=(",", ":"))
        return text.encode()


class Asked(BaseModel):
    """What a client asks about some inputs."""

    inputs: Annotated[
        list[Any],
        Field(
            min_length=1,
            description="Sentences, lists of tokens, lattices, rows or examples.",
            examples=[["Dogs bark loudly"]],
        ),
    ]
    marginals: bool = Field(False, description="Add probabilities.")
    kbest: int | None = Field(None, ge=1, le=100, description="Add the best outputs.")
    spans: bool = Field(False, description="Taggers: add chunks, with probabilities.")
    explain: bool = Field(False, description="Say why, where the model can.")


class Answered(BaseModel):
    """What a model predicts: an object for every input."""

    model: str
    outputs: list[dict[str, Any]]


class Limits(BaseModel):
    """What a server refuses to do."""

    max_bytes: int = 4_000_000
    max_inputs: int = 1000
    max_tokens: int = 100_000
    max_waiting: int = 256
    seconds: float = 10.0


def make_app(
    models: Sequence[tuple[str, str]], limits: Limits | None = None, n_jobs: int = 1
) -> Any:
    """Return the ASGI application that serves models.

    Parameters
    ----------
    models : sequence of (name, path)
        The models.
    limits : Limits, optional
        What is refused.
    n_jobs : int
        How many threads share a batch.
    """
    bounds = limits or Limits()
    served = {
        name: ServedModel(name, path, bounds.max_inputs, bounds.max_waiting, n_jobs)
        for name, path in models
    }
    counts = Counts()

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        tasks = [
            asyncio.create_task(run())
            for one in served.values()
            for run in (one.work, one.watch)
        ]
        yield
        for task in tasks:
            task.cancel()

    app = FastAPI(
        title="Partwise",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        default_response_class=PlainJSON,
    )
    app.add_middleware(BodyLimits, max_bytes=bounds.max_bytes, seconds=bounds.seconds)

    def find(name: str) -> ServedModel:
        if name not in served:
            known = ", ".join(served)
            raise HTTPException(404, f"there is no model {name!r}; there are {known}")
        return served[name]

    async def answer(
        one: ServedModel, inputs: list[Any], how: Callable[..., list[Any]]
    ) -> list[Any]:
        """Read inputs, wait for a batch, and turn errors into words."""
        if len(inputs) > bounds.max_inputs:
            raise HTTPException(413, f"at most {bounds.max_inputs} inputs a request")
        if sum(map(size_of, inputs)) > bounds.max_tokens:
            raise HTTPException(413, f"at most {bounds.max_tokens:,} tokens a request")
        begin, status = time.perf_counter(), 200
        try:
            return await one.ask(how, [read_input(one.model, x) for x in inputs])
        except Busy:
            status = 503
            raise HTTPException(
                503, "too many requests wait; try again", {"Retry-After": "1"}
            ) from None
        except REFUSED as error:
            status = 422
            raise HTTPException(422, str(error)) from None
        finally:
            seconds = time.perf_counter() - begin
            counts.request(one.name, status, seconds, len(inputs))

    @app.post("/models/{name}/predict")
    async def predict(name: str, asked: Asked) -> Answered:
        """Predict outputs; add probabilities, alternatives or reasons if asked."""
        one = find(name)
        how = _asking(asked.marginals, asked.kbest, asked.spans, asked.explain)
        outputs = await answer(one, asked.inputs, how)
        return Answered(model=name, outputs=outputs)

    @app.post("/models/{name}/stream")
    async def stream(name: str, request: Request) -> StreamingResponse:
        """Predict line by line: one JSON input a line, one JSON output a line."""
        one, lines = find(name), (await request.body()).splitlines()

        async def outputs() -> AsyncIterator[str]:
            for line in filter(None, map(bytes.strip, lines)):
                try:
                    [found] = await answer(one, [json.loads(line)], _asking())
                except HTTPException as error:
                    found = {"error": error.detail}
                except (ValueError, RecursionError) as error:
                    found = {"error": f"this line is not JSON: {error}"}
                yield json.dumps(found) + "\n"

        return StreamingResponse(outputs(), media_type="application/x-ndjson")

    @app.post("/models/{name}/view")
    async def view(name: str, asked: Asked) -> dict[str, Any]:
        """Return what the page draws: outputs, the second best, and why."""
        found = await answer(find(name), asked.inputs, _view)
        return {"drawing": found[0]["drawing"], "examples": found}

    @app.get("/models")
    async def models_() -> dict[str, Any]:
        """List the models."""
        return {
            name: {"kind": type(one.model).__name__, "file": one.path}
            for name, one in served.items()
        }

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """Say that the server works, and what is wrong with files that changed."""
        problems = {name: one.problem for name, one in served.items() if one.problem}
        return {"status": "ok", "models": list(served), "problems": problems}

    @app.get("/metrics")
    async def metrics() -> PlainTextResponse:
        """Return counts for Prometheus."""
        reloads = [
            f'partwise_reloads_total{{model="{name}"}} {one.reloads}'
            for name, one in served.items()
        ]
        kind = "# TYPE partwise_reloads_total counter"
        text = counts.text() + "\n".join([kind, *reloads]) + "\n"
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    @app.get("/", response_class=HTMLResponse)
    async def page() -> str:
        """Show a page to type a sentence on."""
        kinds = [[name, type(one.model).__name__] for name, one in served.items()]
        return render({"models": kinds}, "Partwise", SCRIPTS, SERVED)

    return app


@cache
def _asking(
    marginals: bool = False,
    kbest: int | None = None,
    spans: bool = False,
    explain: bool = False,
) -> Callable[[Any, list[Any]], list[Any]]:
    """Return one function for all requests that ask the same: they share batches."""
    return partial(
        _predict, marginals=marginals, kbest=kbest, spans=spans, explain=explain
    )


def _predict(
    model: Any,
    X: list[Any],
    *,
    marginals: bool,
    kbest: int | None,
    spans: bool,
    explain: bool,
) -> list[dict[str, Any]]:
    fields: dict[str, Any] = {"output": model.predict(X)}
    if marginals:
        shares = model.predict_marginals(X)
        if isinstance(shares, dict):  # networks: by target
            shares = [
                {k: v[i].tolist() for k, v in shares.items()} for i in range(len(X))
            ]
        fields["probabilities"] = shares
    if kbest is not None:
        fields["kbest"] = model.predict_kbest(X, kbest)
    if spans:
        if not hasattr(model, "predict_spans"):
            raise ValueError("spans are for taggers; leave them out")
        fields["spans"] = [[s._asdict() for s in own] for own in model.predict_spans(X)]
    if explain:
        if not hasattr(model, "explain"):
            raise ValueError("this model cannot explain itself; leave explain out")
        fields["reasons"] = [_reasons(model.explain(x)) for x in X]
    rows = zip(*fields.values(), strict=True)
    return [
        {name: _plain(value) for name, value in zip(fields, row, strict=True)}
        for row in rows
    ]


def _finite(value: Any) -> Any:
    """Return a value whose numbers are all finite, or None."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    """Return a value as JSON has it; brackets with probabilities become lists."""
    if isinstance(value, dict) and any(isinstance(key, tuple) for key in value):
        return [[*key, share] for key, share in value.items()]
    return written(value)


def _reasons(found: Any) -> list[Any]:
    choices = found if isinstance(found, list) else [found]
    return [
        one._replace(contributions=one.contributions[:MOST_REASONS])._asdict()
        for one in choices
    ]


def _view(model: Any, X: list[Any]) -> list[dict[str, Any]]:
    """Return views without anything right in them, with reasons if there are any."""
    result = []
    for number, (x, view) in enumerate(zip(X, model._views(X), strict=True), 1):
        data = view_data(view, number, {}) | {"drawing": view.drawing}
        data.pop("gold", None)
        if view.drawing in ("tags", "arcs") and hasattr(model, "explain"):
            data["why"] = [_why(t, one, view) for t, one in enumerate(model.explain(x))]
        result.append(data)
    return result


def _why(t: int, one: Any, view: Any) -> list[Any]:
    words = ["the root", *view.words]
    if view.drawing == "arcs":
        chosen = f"below {words[one.head]}"
        other = "" if one.runner_up is None else f"below {words[one.runner_up]}"
    else:
        chosen, other = str(one.label), str(one.runner_up)
    top = [[c.feature, str(c.label), c.value] for c in one.contributions[:MOST_REASONS]]
    margin = one.margin if one.margin < float("inf") else None
    return [t, chosen, other, margin, top]
