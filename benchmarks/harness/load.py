"""A small load generator: connections that ask one request after another."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from typing import NamedTuple


class Load(NamedTuple):
    """What came back: requests a second, latencies in milliseconds, failures."""

    per_second: float
    p50: float
    p99: float
    failures: int
    requests: int


async def _ask(
    port: int, path: str, bodies: Sequence[bytes], end: float
) -> list[float]:
    """Return the seconds of each request on one connection; -1 for failures."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times: list[float] = []
    number = 0
    while time.perf_counter() < end:
        body = bodies[number % len(bodies)]
        number += 1
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        begin = time.perf_counter()
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        lines = answer.decode("latin-1").lower().split("\r\n")
        length = next(x for x in lines if x.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
        good = lines[0].split()[1] == "200"
        times.append(time.perf_counter() - begin if good else -1.0)
    writer.close()
    return times


def load(
    port: int, path: str, inputs: Sequence[object], connections: int, seconds: float
) -> Load:
    """Ask a server on this machine for some seconds, on several connections."""
    bodies = [json.dumps({"inputs": [x]}).encode() for x in inputs]

    async def all_of_them() -> list[list[float]]:
        end = time.perf_counter() + seconds
        asked = [
            _ask(port, path, bodies[c:] + bodies[:c], end) for c in range(connections)
        ]
        return list(await asyncio.gather(*asked))

    times = [t for own in asyncio.run(all_of_them()) for t in own]
    good = sorted(t for t in times if t >= 0)
    return Load(
        len(good) / seconds,
        1000 * good[len(good) // 2],
        1000 * good[min(len(good) * 99 // 100, len(good) - 1)],
        len(times) - len(good),
        len(times),
    )
