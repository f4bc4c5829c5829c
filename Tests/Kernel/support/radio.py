"""The adapters of the machine: controllers of BlueZ's emulator in range of each other."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import pathlib
import re
from collections.abc import Iterator

from support.processes import BINARIES, TIMEOUT, Process, output_of, until

ADDRESSES = ["00:AA:01:00:00:00", "00:AA:01:01:00:01"]
OUR_ADDRESSES = [f"00:1B:DC:00:00:{number:02X}" for number in range(1, 5)]
# How many times to start btvirt if an adapter does not come up, and how long to wait for it each time. An adapter that
# comes up does so soon. All attempts together must take less than pytest.ini allows a case.
ATTEMPTS = 8
PATIENCE = TIMEOUT / 4


def present() -> list[str]:
    """The names of the kernel's adapters, links aside."""
    return sorted(path.name for path in pathlib.Path("/sys/class/bluetooth").glob("hci*") if ":" not in path.name)


@contextlib.contextmanager
def switched_off() -> Iterator[None]:
    """Switches every radio off, like `rfkill block bluetooth`."""
    switches = list(pathlib.Path("/sys/class/rfkill").glob("*/soft"))
    for switch in switches:
        switch.write_text("1")
    try:
        yield
    finally:
        for switch in switches:
            if switch.exists():
                switch.write_text("0")


@contextlib.contextmanager
def first_come_first_served() -> Iterator[list[str]]:
    """Gives a program one processor to itself, with a higher priority than the kernel's workers; the command for this
    precedes the program's.

    The kernel may give a new adapter its first command before btvirt has its number. btvirt, which
    waits for that, misreads the command as the answer, and the adapter never comes up. This way the workers, which
    send commands, rarely run before btvirt is idle.
    """
    settings = {
        # The processors that unbound workers may use.
        pathlib.Path("/sys/devices/virtual/workqueue/cpumask"): "1",
        # The share of each second in which such a program may use its processor. Unlimited, because in an emulated
        # machine the time in which the emulator does not run counts as well.
        pathlib.Path("/proc/sys/kernel/sched_rt_runtime_us"): "-1",
    }
    before = {path: path.read_text() for path in settings}
    try:
        for path, value in settings.items():
            path.write_text(value)
        yield ["taskset", "1", "chrt", "--fifo", "1"]
    finally:
        for path, value in before.items():
            path.write_text(value)


class Radio:
    """BlueZ's emulator. Stopping it unplugs its adapters."""

    def __init__(self, kind: str = "-L") -> None:
        """Creates a radio that is not started. `kind` is btvirt's option for the kind of controllers."""
        self.kind = kind
        self.process: Process | None = None
        # The names of its own adapters. Other adapters may come and go independently.
        self.adapters: list[str] = []

    @property
    def is_plugged_in(self) -> bool:
        return self.process is not None and self.process.is_running and set(self.adapters) <= set(present())

    async def start(self, count: int = 2) -> None:
        for _ in range(ATTEMPTS):
            if await self._start(count):
                return
            await self.stop()
        raise TimeoutError(f"the kernel did not bring up {count} adapters of btvirt in {ATTEMPTS} attempts")

    async def _start(self, count: int) -> bool:
        """Returns whether all adapters have come up."""
        others = set(present())
        self.adapters = []
        try:
            with first_come_first_served() as command:
                self.process = await Process.start("btvirt", *command, "btvirt", self.kind, f"-l{count}")
                try:
                    await until(
                        lambda: len(set(present()) - others) == count, "the adapters of btvirt", PATIENCE)
                finally:
                    # Also where some did not come up: `stop` waits until they have gone.
                    self.adapters = sorted(set(present()) - others)
                os.sched_setscheduler(self.process.process.pid, os.SCHED_OTHER, os.sched_param(0))
                os.sched_setaffinity(self.process.process.pid, range(os.cpu_count() or 1))
            for name in self.adapters:
                await self._has_address(name)
        except TimeoutError:
            return False
        return True

    async def _has_address(self, name: str) -> None:
        """Waits until the kernel has read an adapter's address, which is one of the first things it reads."""
        async with asyncio.timeout(PATIENCE):
            while "BD Address: 00:00:00:00:00:00" in (await output_of("hciconfig", name))[1]:
                await asyncio.sleep(0.05)

    async def stop(self) -> None:
        if self.process is not None:
            await self.process.kill()
            self.process = None
            await until(lambda: not set(self.adapters) & set(present()), "the adapters of btvirt to go")


class OurRadio:
    """Our radio with controllers in the kernel, and the names of their adapters."""

    # Each has its own log.
    numbers = itertools.count(1)

    def __init__(self, process: Process, adapters: list[str]) -> None:
        self.process = process
        self.adapters = adapters

    # What the kernel says about the adapters of the latest radio follows this in its log.
    MARK = "our radio starts"

    @classmethod
    async def start(cls, count: int = 2, extended: bool = False) -> OurRadio:
        pathlib.Path("/dev/kmsg").write_text(cls.MARK)
        options = ["--extended" if extended else "--no-extended"]
        process = await Process.start(
            f"ble-radio{next(cls.numbers)}", BINARIES / "ble", "radio", *options, *["vhci"] * count)

        def adapters() -> list[str]:
            return re.findall(r"^controller .* at vhci: (hci[0-9]+)$", process.said(), re.MULTILINE)

        await until(lambda: len(adapters()) == count, "the kernel to take the controllers")
        return cls(process, adapters())

    async def stop(self) -> None:
        """Unplugs them all."""
        await self.process.stop()
        await until(lambda: not set(self.adapters) & set(present()), "the adapters to go")
