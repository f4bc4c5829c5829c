"""The output of the documentation's programs when they run against each other. See Scripts/readme."""

import contextlib
import os
import pty
import re
import select
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

PATIENCE = 60


class Failed(Exception):
    """A program's output differs from the documentation."""


@dataclass
class Run:
    """A program, its peer, and its expected output."""

    program: str
    peer: str | None
    prints: list[str]
    #: Its controller, if it is not one of `ble radio`.
    transport: str | None = None


RUNS = [
    Run("central", "peripheral", [r"found Heart, 00:1B:DC:", r"\d\d beats per minute", r"\d\d beats per minute"]),
    Run("typed", "peripheral", [r"\d\d beats per minute \[\]"]),
    Run("beats", "peripheral", [r"\b[678]\d\b"]),
    Run("monitor", "peripheral", [r"\d\d beats per minute"]),
    Run("heart-rate", "peripheral", [r"Heart \d\d", r"Heart \d\d"]),
    Run("first-central", "peripheral", [r"connected to 00:1B:DC:", r"it has 180D", r"\d\d beats per minute"]),
    Run("virtual", None, [r"found 00:1B:DC:"]),
    # This program does not link the virtual radio.
    Run("monitor", None, [r"this program contains no radio; add the product VirtualRadio"], transport="virtual"),
]
TEST_OUTPUT = ["connected to Heart"]


class Process:
    """A program on a terminal, so that it prints line by line, as for a user."""

    def __init__(self, *command: str | Path, cwd: Path | None = None, **environment: str) -> None:
        self.name = str(command[-1] if command[0] == "bash" else Path(command[0]).name)
        self.said = ""
        self.terminal, other = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=other, stderr=other, env=os.environ | environment, cwd=cwd,
            start_new_session=True)
        os.close(other)

    def wait_for(self, pattern: str, start: int = 0) -> int:
        """Reads until something matches, and returns where that ends."""
        end = time.monotonic() + PATIENCE
        while not (match := re.compile(pattern).search(self.said, start)):
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            try:
                octets = os.read(self.terminal, 65536) if ready else b""
            except OSError:
                octets = b""
            if not octets:
                raise Failed(f"{self.name} does not print {pattern!r}. It prints:\n{self.said}")
            self.said += octets.decode(errors="replace")
        return match.end()

    def stop(self) -> None:
        # A shell's children are in its session.
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
        os.close(self.terminal)


def run_all(binaries: Path, ble: Path, directory: Path) -> None:
    for index, run in enumerate(RUNS):
        processes = []
        try:
            near, far = directory / f"{index}a", directory / f"{index}b"
            state = {"XDG_STATE_HOME": str(directory / "state"), "HOME": str(directory)}
            if run.peer:
                processes.append(Process(ble, "radio", f"unix-server:{near}", f"unix-server:{far}"))
                processes[0].wait_for(re.escape(str(far)))
                processes.append(Process(binaries / run.peer, BLUETOOTH_TRANSPORT=f"unix:{far}", **state))
            program = Process(binaries / run.program, BLUETOOTH_TRANSPORT=run.transport or f"unix:{near}", **state)
            processes.append(program)
            end = 0
            for pattern in run.prints:
                end = program.wait_for(pattern, end)
        finally:
            for process in reversed(processes):
                process.stop()
