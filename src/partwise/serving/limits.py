"""Limits on what clients send and take: how much, and how slowly."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any

STREAMS = "/stream"
"""How the addresses end whose bodies are read while answers are sent."""


class BodyLimits:
    """An ASGI application that refuses bodies that are too large or too slow.

    A client that does not take its answer is left. Bodies of streams are passed on as
    they come in; whoever reads them has limits of its own.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    max_bytes : int
        The longest body.
    seconds : float
        How long a client may take to send its body, and to take a piece of the answer.
    """

    def __init__(self, app: Any, max_bytes: int, seconds: float):
        self.app, self.max_bytes, self.seconds = app, max_bytes, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        # One clock: it runs while a client sends its body, and while it takes answers.
        clock = asyncio.timeout(None)
        now = asyncio.get_running_loop().time

        async def send_in_time(message: Any) -> None:
            clock.reschedule(now() + self.seconds)
            await send(message)
            clock.reschedule(None)

        refused: tuple[int, str] | None = None
        try:
            async with clock:
                if _is_short(scope):
                    refused = 408, f"the body took longer than {self.seconds:g} s"
                    clock.reschedule(now() + self.seconds)
                    body = await self._whole_body(receive)
                    clock.reschedule(None)
                    refused = None
                    if body is None:
                        return
                    receive = _again(body, receive)
                await self.app(scope, receive, send_in_time)
        except TooLong:
            refused = 413, f"the body has more than {self.max_bytes:,} bytes"
        except TimeoutError:  # if nobody takes the answer, what is open is closed
            pass
        if refused is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.seconds):
                    await _refuse(send, *refused)

    async def _whole_body(self, receive: Any) -> bytes | None:
        """Return the body of a request, or None if the client left."""
        pieces, size, more = [], 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            pieces.append(message.get("body", b""))
            size += len(pieces[-1])
            more = message.get("more_body", False)
            if size > self.max_bytes:
                raise TooLong
        return b"".join(pieces)


class TooLong(Exception):
    """Raised when a body is longer than it may be."""


def _is_short(scope: Any) -> bool:
    """Say whether a request has a body that is read before it is answered."""
    has_body = scope["method"] not in ("GET", "HEAD", "OPTIONS")
    return has_body and not scope["path"].endswith(STREAMS)


def _again(body: bytes, receive: Any) -> Any:
    """Return a function that gives an application a body that was read already."""
    given = False

    async def once() -> Any:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


async def _refuse(send: Any, status: int, words: str) -> None:
    content = json.dumps({"detail": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
