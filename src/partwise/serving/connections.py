"""Connections of clients that take for ever to say what they want."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol


def connections(seconds: float) -> Any:
    """Return uvicorn's protocol, with a limit on how long the head of a request takes.

    A connection that stays silent from its start, or sends the head of a request byte
    by byte, is closed; uvicorn itself would wait.
    """
    base: Any = AutoHTTPProtocol

    class Connection(base):  # type: ignore[misc]
        """A connection with a clock that runs until a request has a head."""

        _clock: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            """Wait for the first request."""
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            """Take bytes in; go on waiting if they do not make a request yet."""
            before = self.cycle
            super().data_received(data)
            if self.cycle is not before:
                self._stop()
            elif before is None or before.response_complete:
                self._wait()

        def connection_lost(self, error: Any) -> None:
            """Stop waiting."""
            self._stop()
            super().connection_lost(error)

        def _wait(self) -> None:
            if self._clock is None:
                self._clock = self.loop.call_later(seconds, self.transport.close)

        def _stop(self) -> None:
            if self._clock is not None:
                self._clock.cancel()
                self._clock = None

    return Connection
