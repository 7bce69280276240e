"""A server on a port of this machine, in a thread of this process."""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn

from partwise.serving.connections import connections


class LiveServer:
    """A server that listens; `stop` asks it to end as a signal does."""

    def __init__(self, app: Any, seconds: float = 10.0):
        config = uvicorn.Config(
            app,
            port=0,
            http=connections(seconds),
            log_level="critical",
            timeout_graceful_shutdown=60,
        )
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.005)
        self.port: int = self.server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Ask the server to end; return at once."""
        self.server.should_exit = True


@contextlib.contextmanager
def live_server(app: Any, seconds: float = 10.0) -> Iterator[LiveServer]:
    """Serve an application until the block ends."""
    live = LiveServer(app, seconds)
    try:
        yield live
    finally:
        live.stop()
        live.thread.join(60)
        assert not live.thread.is_alive()
