"""Our programs in a world that is against them: hosts that never read, no descriptors, nobody who reads the errors."""

from __future__ import annotations

import contextlib
import pathlib
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import airs
import hci

MEBIBYTE = 1 << 20


@dataclass
class Case:
    """Something a program must withstand. The test returns the error, or nothing."""

    title: str
    test: Callable[[pathlib.Path], str | None]

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Each case is done in less than the limit, or fails by itself."""
        try:
            return self.test(directory)
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
            return f"{type(error).__name__}: {error}"


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Every case there is with these executables."""
    return [
        Case(f"a host that sends {name} and never reads cannot make our radio grow",
             lambda directory, packet=packet: radio_is_bounded(binaries, directory, packet))
        for name, packet in FLOODS.items()
    ]


# MARK: Memory

# Packets of a link, whose handle is filled in.
FLOODS = {
    "empty data": bytes.fromhex("0200200000") * 1000,
    "data longer than a buffer": (bytes.fromhex("0200202c01") + bytes(300)) * 100,
    "data beyond its buffers": (bytes.fromhex("020020fb00") + bytes(251)) * 100,
    "commands": hci.RESET * 1000,
}


def memory(process: int) -> int:
    """How much memory a process has in use, in bytes."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {process} is gone")


@contextlib.contextmanager
def radio(
    binaries: pathlib.Path, directory: pathlib.Path, paths: list[pathlib.Path]
) -> Iterator[subprocess.Popen[bytes]]:
    """Our radio, for as long as the context lasts."""
    command = [str(binaries / "ble"), "radio"] + [f"unix-server:{path}" for path in paths]
    with open(directory / "radio.log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while not all(path.exists() for path in paths):
            if process.poll() is not None:
                raise RuntimeError(f"the radio ended with status {process.returncode}")
            time.sleep(0.02)
        yield process
    finally:
        airs.stop(process)


def with_handle(packets: bytes, handle: int) -> bytes:
    """The packets of a flood, for a link with that handle."""
    if packets[0] != 2:
        return packets
    length = 5 + int.from_bytes(packets[3:5], "little")
    packet = packets[:1] + (handle | int.from_bytes(packets[1:3], "little")).to_bytes(2, "little") + packets[3:length]
    return packet * (len(packets) // length)


def radio_is_bounded(binaries: pathlib.Path, directory: pathlib.Path, packets: bytes) -> str | None:
    """Floods the radio for two seconds, and looks at its memory meanwhile and afterwards."""
    paths = [directory / name for name in ("first", "second")]
    with radio(binaries, directory, paths) as process:
        first, second, handle = hci.connected_hosts(paths)
        before = memory(process.pid)
        sent = second.flood(with_handle(packets, handle), seconds=2)
        during = memory(process.pid)
        second.close()
        # The next host finds a controller that works.
        next_host = hci.Host(paths[1])
        next_host.command(hci.RESET)
        after = memory(process.pid)
        first.close()
        next_host.close()
    figures = f"{before >> 10} KiB before, {during >> 10} KiB under {sent >> 10} KiB, {after >> 10} KiB afterwards"
    (directory / "figures.log").write_text(figures + "\n", encoding="utf-8")
    if max(during, after) - before > 4 * MEBIBYTE:
        return figures
    return None
