"""python-crfsuite behind the framework that `partwise serve` uses."""

from __future__ import annotations

import sys
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from benchmarks.harness import crfsuite
from benchmarks.harness.chunking import feature_strings


class Asked(BaseModel):
    """Sentences, as ``word|TAG`` with blanks between."""

    inputs: list[str]


def make_app(path: str) -> Any:
    """Return an application with one tagger."""
    app, tagger = FastAPI(), crfsuite.open_tagger(path)

    @app.post("/models/chunks/predict")
    async def predict(asked: Asked) -> dict[str, Any]:
        found = []
        for text in asked.inputs:
            words, tags = zip(*(cell.split("|") for cell in text.split()), strict=True)
            features = feature_strings(list(words), list(tags))
            found.append({"output": tagger.tag(features)})
        return {"outputs": found}

    @app.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(
        make_app(sys.argv[1]),
        host="127.0.0.1",
        port=int(sys.argv[2]),
        log_level="warning",
        access_log=False,
    )
