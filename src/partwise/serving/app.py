"""The server: models by name, answers as JSON, a page to try them on."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Query, Request
from fastapi.responses import HTMLResponse, PlainTextResponse
from pydantic import BaseModel, Field

from partwise.errors import PartwiseError
from partwise.pages.document import SERVED, render
from partwise.serving.answers import Answer, asking, look
from partwise.serving.counting import Counts
from partwise.serving.inputs import inputs_of, size_of
from partwise.serving.limits import BodyLimits
from partwise.serving.models import Busy, ServedModel
from partwise.serving.plain_json import PlainJSON
from partwise.serving.streams import BothWays, answer_lines, read_lines

SCRIPTS = ("elements.js", "drawings.js", "browser.js", "try.js")
REFUSED = (
    PartwiseError, ValueError, TypeError, KeyError, IndexError, OverflowError,
    RecursionError,
)  # fmt: skip


class Wanted(BaseModel):
    """What a client wants to know of every input."""

    marginals: bool = Field(False, description="Add probabilities.")
    kbest: int | None = Field(None, ge=1, le=100, description="Add the best outputs.")
    spans: bool = Field(False, description="Taggers: add chunks, with probabilities.")
    explain: bool = Field(False, description="Say why, where the model can.")
    risk: float | None = Field(
        None, gt=0, lt=1, description="Calibrated models: abstain at this risk."
    )

    def answer(self) -> Answer:
        """Return what models are asked."""
        return asking(self.marginals, self.kbest, self.spans, self.explain, self.risk)


class Asked(Wanted):
    """What a client asks about some inputs."""

    inputs: Annotated[
        list[Any],
        Field(
            min_length=1,
            description="Sentences, lists of tokens, lattices, rows or examples; "
            "GET /models says what a model takes.",
            examples=[["Dogs bark loudly"]],
        ),
    ]


class Answered(BaseModel):
    """What a model predicts: an object for every input."""

    model: str
    outputs: list[dict[str, Any]]


class Limits(BaseModel):
    """What a server refuses to do."""

    max_bytes: int = 4_000_000
    max_inputs: int = 1000
    max_tokens: int = 100_000
    max_length: int = 400
    max_waiting: int = 256
    seconds: float = 10.0
    idle: float = 60.0


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

    def check(one: ServedModel, inputs: list[Any]) -> None:
        """Refuse more than the limits allow."""
        if len(inputs) > bounds.max_inputs:
            raise HTTPException(413, f"at most {bounds.max_inputs} inputs a request")
        sizes = list(map(size_of, inputs))
        if sum(sizes) > bounds.max_tokens:
            raise HTTPException(413, f"at most {bounds.max_tokens:,} tokens a request")
        if inputs_of(one.model).cubic and max(sizes) > bounds.max_length:
            raise HTTPException(
                413,
                f"at most {bounds.max_length:,} words in one sentence or text: the "
                "time to parse grows with their cube",
            )

    async def answer(
        one: ServedModel, inputs: list[Any], how: Answer, in_turn: bool = False
    ) -> list[Any]:
        """Read inputs, wait for a batch, and turn errors into words."""
        begin, status = time.perf_counter(), 200
        try:
            check(one, inputs)
            read = inputs_of(one.model).read
            ask = one.ask_in_turn if in_turn else one.ask
            return await ask(how, [read(one.model, x) for x in inputs])
        except Busy:
            status = 503
            raise HTTPException(
                503, "too many requests wait; try again", {"Retry-After": "1"}
            ) from None
        except MemoryError:
            status = 413
            raise HTTPException(413, "there is not enough memory for this") from None
        except REFUSED as error:
            status = 422
            raise HTTPException(422, str(error)) from None
        except HTTPException as error:
            status = error.status_code
            raise
        finally:
            seconds = time.perf_counter() - begin
            counts.request(one.name, status, seconds, len(inputs))

    @app.post("/models/{name}/predict", response_model=Answered)
    async def predict(name: str, asked: Asked) -> PlainJSON:
        """Predict outputs; add probabilities, alternatives or reasons if asked."""
        outputs = await answer(find(name), asked.inputs, asked.answer())
        # What models answer is JSON already: it need not be checked once more.
        return PlainJSON({"model": name, "outputs": outputs})

    @app.post("/models/{name}/stream")
    async def stream(
        name: str, request: Request, wanted: Annotated[Wanted, Query()]
    ) -> BothWays:
        """Predict line by line: one JSON input a line, one JSON output a line.

        Answers are sent while further lines are read, in their order.
        """
        one, how = find(name), wanted.answer()

        async def ask(given: Any) -> Any:
            try:
                [found] = await answer(one, [given], how, in_turn=True)
                return found
            except HTTPException as error:
                return {"error": error.detail}

        lines = read_lines(request.stream(), bounds.max_bytes, bounds.idle)
        return BothWays(answer_lines(lines, ask), media_type="application/x-ndjson")

    @app.post("/models/{name}/view")
    async def view(name: str, asked: Asked) -> dict[str, Any]:
        """Return what the page draws: outputs, the second best, and why."""
        found = await answer(find(name), asked.inputs, look)
        examples = [one for own in found for one in own]
        return {"drawing": examples[0]["drawing"] if examples else "tags",
                "examples": examples}  # fmt: skip

    @app.get("/models")
    async def models_() -> dict[str, Any]:
        """List the models: what they are, and what they take."""
        return {name: one.about for name, one in served.items()}

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
        known = [{"name": name, **about} for name, about in (await models_()).items()]
        return render({"models": known}, "Partwise", SCRIPTS, SERVED)

    # FastAPI's own pages load scripts from elsewhere; this one needs no network.
    @app.get("/docs", response_class=HTMLResponse)
    async def requests() -> str:
        """Show a page with all requests and their fields."""
        return render(
            {"api": app.openapi()}, "Requests", ("elements.js", "requests.js")
        )

    return app
