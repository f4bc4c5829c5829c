"""Processes that a case starts, and waiting for their effects."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
from collections.abc import AsyncIterator, Callable

BINARIES = pathlib.Path(os.environ["KERNEL_BINARIES"])
RESULTS = pathlib.Path(os.environ["VM_RESULTS"])
LOGS = pathlib.Path("/run/logs")
LOGS.mkdir(exist_ok=True)

# The prefix of a command to run it as an ordinary user, and with the capability given by `setcap cap_net_admin+ep`.
NOBODY = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]
ADMINISTRATOR = [
    "setpriv", "--reuid=1000", "--regid=1000", "--clear-groups", "--inh-caps=+net_admin", "--ambient-caps=+net_admin",
    "--bounding-set=-all,+net_admin"]

# How long an expected event may take, in seconds: the machine is emulated. A busy host needs longer.
TIMEOUT = float(os.environ.get("KERNEL_STEP_TIMEOUT", "20"))


async def until(condition: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
    """Waits until a condition holds, by polling."""
    end = asyncio.get_running_loop().time() + timeout
    while not condition():
        if asyncio.get_running_loop().time() > end:
            raise TimeoutError(f"waited {timeout:.0f} s for {what}")
        await asyncio.sleep(0.02)


class Process:
    """A program that runs until it is stopped, with its output in a log."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: pathlib.Path, start_of_log: int) -> None:
        self.name = name
        self.process = process
        self.log = log
        # A case that is tried again finds the log of the time before.
        self.start_of_log = start_of_log

    @classmethod
    async def start(cls, name: str, *command: str | pathlib.Path, pipe: bool = False) -> Process:
        """Starts a program. With `pipe`, the caller has its standard input and output; otherwise output is logged."""
        log = LOGS / f"{name}.log"
        with open(log, "ab") as output:
            start_of_log = output.tell()
            process = await asyncio.create_subprocess_exec(
                *map(str, command),
                stdin=asyncio.subprocess.PIPE if pipe else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if pipe else output,
                stderr=output,
                limit=1 << 22)
        return cls(name, process, log, start_of_log)

    @classmethod
    @contextlib.asynccontextmanager
    async def running(cls, name: str, *command: str | pathlib.Path) -> AsyncIterator[Process]:
        """Starts a program, which is killed if it has not ended when its case has: it may hold an adapter."""
        process = await cls.start(name, *command)
        try:
            yield process
        finally:
            await process.kill()

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    async def stop(self, timeout: float = TIMEOUT) -> int:
        """Ends the program as a user would, or by force if that does not help. Returns its status."""
        if self.is_running:
            self.process.terminate()
        try:
            return await asyncio.wait_for(self.process.wait(), timeout)
        except TimeoutError:
            self.process.kill()
            await self.process.wait()
            raise TimeoutError(f"{self.name} did not end when asked to") from None

    async def kill(self) -> None:
        """Ends the program as a crash would."""
        if self.is_running:
            self.process.kill()
        await self.process.wait()

    def said(self) -> str:
        return self.log.read_bytes()[self.start_of_log:].decode(errors="replace")

    def lines(self) -> list[str]:
        """What the program has printed, without a line that it is still printing."""
        return self.said().split("\n")[:-1]


async def output_of(*command: str | pathlib.Path, timeout: float = TIMEOUT) -> tuple[int, str, str]:
    """Runs a program to its end. Returns its status and what it wrote to standard output and error."""
    process = await asyncio.create_subprocess_exec(
        *map(str, command), stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE)
    try:
        output, errors = await asyncio.wait_for(process.communicate(), timeout)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise TimeoutError(f"{command[0]} did not end in {timeout:.0f} s") from None
    return process.returncode or 0, output.decode(errors="replace"), errors.decode(errors="replace")
