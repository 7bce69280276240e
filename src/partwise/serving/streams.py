"""Streams: lines are answered in their order, while further lines come in."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from partwise.serving.plain_json import plain

AT_ONCE = 32
"""How many lines of a stream are being answered at a time."""


class BothWays(StreamingResponse):
    """A response that is sent while its request is still being read.

    Starlette's own listens for clients that leave, and would take the lines that come
    in for that. Here whoever reads the lines notices.
    """

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Send the pieces as they come."""
        await self.stream_response(send)


class EndsEarly(Exception):
    """Raised when a stream is not read on; says why."""


async def read_lines(
    pieces: AsyncIterator[bytes], max_bytes: int, idle: float
) -> AsyncIterator[bytes]:
    """Yield the lines of a body that comes in pieces; blank ones are left out.

    Parameters
    ----------
    pieces : async iterator of bytes
        The body.
    max_bytes : int
        The longest line.
    idle : float
        How many seconds may pass before a line is there.

    Raises
    ------
    EndsEarly
        If a line is longer, or takes longer.
    """
    begun: list[bytes] = []
    size = 0
    too_long = EndsEarly(f"a line has more than {max_bytes:,} bytes")
    loop = asyncio.get_running_loop()
    due = loop.time() + idle
    while True:
        try:
            async with asyncio.timeout_at(due):
                piece = await anext(pieces, None)
        except TimeoutError:
            raise EndsEarly(f"no line came in for {idle:g} s") from None
        *whole, rest = (piece or b"").split(b"\n")
        if whole:
            whole[0] = b"".join([*begun, whole[0]])
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        if piece is None:
            whole = [b"".join(begun)]
        for line in filter(None, map(bytes.strip, whole)):
            if len(line) > max_bytes:
                raise too_long
            yield line
        if piece is None:
            return
        if size > max_bytes:
            raise too_long
        if whole:  # a client that is slow to take answers is not slow to send lines
            due = loop.time() + idle


async def answer_lines(
    lines: AsyncIterator[bytes], ask: Callable[[Any], Awaitable[Any]]
) -> AsyncIterator[str]:
    """Answer lines of JSON in their order, several at a time.

    No more lines are read while `AT_ONCE` answers have not been taken.

    Parameters
    ----------
    lines : async iterator of bytes
        The lines.
    ask : callable
        Takes what a line holds, and returns its answer.
    """
    begun: asyncio.Queue[asyncio.Task[Any] | None] = asyncio.Queue(AT_ONCE)

    async def answered(line: bytes) -> Any:
        try:
            given = json.loads(line)
        except (ValueError, RecursionError) as error:
            return {"error": f"this line is not JSON: {error}"}
        return await ask(given)

    async def read() -> None:
        try:
            async for line in lines:
                await begun.put(asyncio.create_task(answered(line)))
        except EndsEarly as error:
            await begun.put(asyncio.create_task(_say(str(error))))
        except ClientDisconnect:
            pass
        await begun.put(None)

    reading = asyncio.create_task(read())
    try:
        while (task := await begun.get()) is not None:
            yield plain(await task) + "\n"
    finally:  # the client may have left in the middle
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading
        while not begun.empty():
            if (task := begun.get_nowait()) is not None:
                task.cancel()


async def _say(words: str) -> Any:
    return {"error": f"{words}; the stream ends here"}
