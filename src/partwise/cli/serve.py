"""``partwise serve``: models over HTTP, and a page to try them on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from partwise.errors import PartwiseError


def serve(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...", help="Models; NAME=FILE gives one another name."
        ),
    ],
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port.")] = 8000,
    jobs: Annotated[
        int, typer.Option(help="How many threads share a batch.", metavar="N")
    ] = 1,
    max_bytes: Annotated[
        int, typer.Option(min=1, help="The longest body of a request.", metavar="N")
    ] = 4_000_000,
    max_inputs: Annotated[
        int, typer.Option(min=1, help="The most inputs of a request.", metavar="N")
    ] = 1000,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="The most tokens of a request.", metavar="N")
    ] = 100_000,
    max_length: Annotated[
        int,
        typer.Option(min=1, help="The most words of a text to parse.", metavar="N"),
    ] = 400,
    max_waiting: Annotated[
        int, typer.Option(min=1, help="The most requests that wait.", metavar="N")
    ] = 256,
    seconds: Annotated[
        float,
        typer.Option(help="How long a client may take to send its request."),
    ] = 10.0,
    idle: Annotated[
        float, typer.Option(help="How long a stream may send no line.")
    ] = 60.0,
) -> None:
    """Serve models: POST /models/NAME/predict, and a page to type sentences on.

    Files are watched: a model that changes is loaded again, and the old one goes on if
    the new one cannot be read. Ctrl-C, or SIGTERM, lets running requests finish.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn
    except ImportError:
        raise PartwiseError(
            "partwise serve needs FastAPI and uvicorn: pip install 'partwise[serve]'"
        ) from None
    from partwise.serving.app import Limits, make_app
    from partwise.serving.connections import connections

    limits = Limits(
        max_bytes=max_bytes,
        max_inputs=max_inputs,
        max_tokens=max_tokens,
        max_length=max_length,
        max_waiting=max_waiting,
        seconds=seconds,
        idle=idle,
    )
    app = make_app(_named(models), limits, jobs)
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=connections(seconds),
        access_log=False,
        log_level="info",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )


def _named(models: list[str]) -> list[tuple[str, str]]:
    """Return names and files; a file without a name is called as it is, bare.

    Examples
    --------
    >>> _named(["ner.partwise", "pos=tags.partwise"])
    [('ner', 'ner.partwise'), ('pos', 'tags.partwise')]
    """
    found: list[tuple[str, str]] = []
    for given in models:
        name, is_named, path = given.partition("=")
        name, path = (name, path) if is_named else (Path(given).stem, given)
        if not name.replace("-", "").replace("_", "").replace(".", "").isalnum():
            raise ValueError(
                f"{name!r} cannot be a name in an address; give NAME={path}"
            )
        if name in dict(found):
            raise ValueError(f"two models are called {name}; give one as NAME={path}")
        found.append((name, path))
    return found
