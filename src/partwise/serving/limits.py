"""Limits on what clients send: how much, and how slowly."""

from __future__ import annotations

import asyncio
import json
from typing import Any


class BodyLimits:
    """An ASGI application that refuses bodies that are too large or too slow.

    Parameters
    ----------
    app : ASGI application
        What answers the others.
    max_bytes : int
        The longest body.
    seconds : float
        How long a client may take for its body.
    """

    def __init__(self, app: Any, max_bytes: int, seconds: float):
        self.app, self.max_bytes, self.seconds = app, max_bytes, seconds

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            await self.app(scope, receive, send)
            return
        body, more = b"", True
        try:
            async with asyncio.timeout(self.seconds):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self.max_bytes:
                        words = f"the body has more than {self.max_bytes:,} bytes"
                        await _refuse(send, 413, words)
                        return
        except TimeoutError:
            await _refuse(send, 408, f"the body took longer than {self.seconds:g} s")
            return
        sent = False

        async def whole() -> Any:
            nonlocal sent
            if sent:
                return await receive()
            sent = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, whole, send)


async def _refuse(send: Any, status: int, words: str) -> None:
    content = json.dumps({"detail": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
