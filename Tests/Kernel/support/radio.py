"""The adapters of the machine: two controllers of BlueZ's emulator that hear each other."""

from __future__ import annotations

import pathlib

from support.processes import Process, until

ADDRESSES = ["00:AA:01:00:00:00", "00:AA:01:01:00:01"]


def present() -> list[str]:
    """The names of the kernel's adapters, links aside."""
    return sorted(path.name for path in pathlib.Path("/sys/class/bluetooth").glob("hci*") if ":" not in path.name)


class Radio:
    """BlueZ's emulator. To stop it is to unplug both adapters."""

    def __init__(self) -> None:
        self.process: Process | None = None

    async def start(self, count: int = 2) -> None:
        before = len(present())
        self.process = await Process.start("btvirt", "btvirt", "-L", f"-l{count}")
        await until(lambda: len(present()) == before + count, "the adapters of btvirt")

    async def stop(self) -> None:
        if self.process is not None:
            before = len(present())
            await self.process.kill()
            self.process = None
            await until(lambda: len(present()) < before, "the adapters of btvirt to go")


class Monitor:
    """A capture of everything that passes between the kernel, or who has taken its place, and the adapters."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.process: Process | None = None

    async def start(self) -> None:
        self.process = await Process.start("btmon", "btmon", "-w", self.path)
        await until(lambda: self.path.exists() and self.path.stat().st_size > 16, "btmon to record")

    async def stop(self) -> None:
        if self.process is not None:
            await self.process.stop()
