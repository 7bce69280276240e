"""Two hosts on one machine, and a slow link between them that loses packets.

Hosts are network namespaces, each with a TUN device. What one sends, a process reads
from its device, drops or holds back, and hands to a process on the other side, which
writes it to that device. So it works where the kernel has no ``netem``; it takes root.
"""

from __future__ import annotations

import fcntl
import heapq
import os
import random
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.harness.bench import ROOT, Skip

HOSTS = ("partwise-a", "partwise-b")
ADDRESSES = ("10.97.1.1", "10.97.1.2")
DEVICE = "slow0"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_MTU = 8000


@contextmanager
def two_hosts(delay: float, loss: float) -> Iterator[None]:
    """Make two hosts; packets take `delay` seconds one way, and a share is lost."""
    if os.geteuid() != 0 or not shutil.which("ip") or not Path("/dev/net/tun").exists():
        raise Skip("two hosts need root, the program ip and /dev/net/tun")
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        sockets = [f"{folder}/{host}" for host in HOSTS]
        for host, address in zip(HOSTS, ADDRESSES, strict=True):
            _ip("netns", "add", host)
            stack.callback(_ip, "netns", "del", host)
            _ip("-n", host, "link", "set", "lo", "up")
            _ip("-n", host, "tuntap", "add", "dev", DEVICE, "mode", "tun")
            _ip("-n", host, "addr", "add", f"{address}/24", "dev", DEVICE)
            _ip("-n", host, "link", "set", DEVICE, "mtu", str(_MTU), "up")
        for number in range(2):
            ends = sockets[number], sockets[1 - number]
            settings = str(delay), str(loss), str(number)
            module = ["-m", "benchmarks.harness.slow_link", *ends, *settings]
            relay = on_host(number, [sys.executable, *module], cwd=ROOT)
            stack.callback(relay.wait)
            stack.callback(relay.terminate)
        while not all(map(os.path.exists, sockets)):
            time.sleep(0.05)
        yield


def on_host(
    number: int, command: Sequence[str], **options: object
) -> subprocess.Popen[str]:
    """Start a program on a host."""
    inside = ["ip", "netns", "exec", HOSTS[number], *command]
    return subprocess.Popen(inside, text=True, **options)  # type: ignore[call-overload, no-any-return]


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


def relay(own: str, other: str, delay: float, loss: float, seed: int) -> None:
    """Carry packets between the device of this host and the other end."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    request = struct.pack("16sH14x", DEVICE.encode(), _IFF_TUN | _IFF_NO_PI)
    fcntl.ioctl(device, _TUNSETIFF, request)
    end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    end.bind(own)
    end.setblocking(False)
    rng, held, count = random.Random(seed), [], 0
    while True:
        wait = max(held[0][0] - time.monotonic(), 0.0) if held else 1.0
        for ready in select.select([device, end], [], [], wait)[0]:
            if ready is end:
                os.write(device, end.recv(_MTU))
            else:
                packet = os.read(device, _MTU)
                count += 1
                if rng.random() >= loss:
                    heapq.heappush(held, (time.monotonic() + delay, count, packet))
        while held and held[0][0] <= time.monotonic():
            try:
                end.sendto(heapq.heappop(held)[2], other)
            except OSError:  # the other end is full, or not there: the packet is lost
                continue


if __name__ == "__main__":
    relay(*sys.argv[1:3], *map(float, sys.argv[3:5]), int(sys.argv[5]))  # type: ignore[call-arg]
