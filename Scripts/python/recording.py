"""Makes recordings reproducible, with a virtual clock, seeded keys, and our own btsnoop writer."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import random
import secrets
import selectors
import struct
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self
from unittest import mock

from bumble.hci import HCI_COMMAND_PACKET, HCI_EVENT_PACKET
from bumble.snoop import Snooper


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that never waits: when nothing is ready, its clock jumps to the next timer."""

    class Selector(selectors.SelectSelector):
        now = 0.0

        def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            if timeout is None:
                raise RuntimeError("nothing is ready and no timer is set: the scenario would wait forever")
            self.now += max(timeout, 0)
            return super().select(0)

    def __init__(self) -> None:
        self.virtual = self.Selector()
        super().__init__(self.virtual)

    def time(self) -> float:
        return self.virtual.now


class Capture(Snooper):
    """Writes the HCI packets of one host to a btsnoop file, with datalink type H4."""

    HEADER = struct.pack(">8sII", b"btsnoop\0", 1, Snooper.DataLinkType.H4)
    # Where the time in a recording begins, 2025-01-01T00:00:00Z, in microseconds since the year 0.
    ORIGIN = 0x00E0_3AB4_4A67_6000 + 9132 * 86400 * 1_000_000

    def __init__(self, path: pathlib.Path, clock: Callable[[], float]) -> None:
        self.file = open(path, "wb")
        self.file.write(self.HEADER)
        self.clock = clock
        self.start = clock()
        self.packets = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.file.close()

    def snoop(self, hci_packet: bytes, direction: Snooper.Direction) -> None:
        is_command_or_event = hci_packet[0] in (HCI_COMMAND_PACKET, HCI_EVENT_PACKET)
        flags = int(direction) | (0x02 if is_command_or_event else 0)
        microseconds = self.ORIGIN + int((self.clock() - self.start) * 1_000_000)
        length = len(hci_packet)
        self.file.write(struct.pack(">IIIIQ", length, length, flags, 0, microseconds) + hci_packet)
        self.packets += 1


@contextlib.contextmanager
def seeded(seed: str) -> Iterator[None]:
    """Makes Bumble's random values depend only on a seed."""
    source = random.Random(seed)
    # Excludes the upper end, which Bumble's controller has no room for.
    with (
        mock.patch.object(secrets, "token_bytes", lambda count=32: source.randbytes(count)),
        mock.patch.object(secrets, "randbelow", source.randrange),
        mock.patch.object(random, "randint", lambda low, high: source.randrange(low, high)),
    ):
        yield


def packet_count(path: pathlib.Path) -> int:
    """The number of packets in a btsnoop file."""
    content, at, count = path.read_bytes(), len(Capture.HEADER), 0
    while at < len(content):
        included = struct.unpack_from(">I", content, at + 4)[0]
        at += 24 + included
        count += 1
    return count
