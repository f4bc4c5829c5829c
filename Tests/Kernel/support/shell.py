"""BlueZ's interactive programs, such as bluetoothctl and btmgmt, driven by their standard input."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

from support.processes import TIMEOUT, Process

# The escape sequences that colour and overwrite their prompt.
DECORATION = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|[\r\b\x01\x02]")
# Their prompt. Version 5.66 ends it with `#`, and 5.87 with `>`.
PROMPT = re.compile(r"\[[^]\n]*\][#>] *")


def plain(said: str) -> str:
    return PROMPT.sub("", DECORATION.sub("", said))


class Shell:
    """A program that reads one command per line. Each search of its output starts after the last match."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._said = ""
        self._changed = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        output = self.process.process.stdout
        assert output is not None
        while data := await output.read(4096):
            self._said += data.decode(errors="replace")
            self._changed.set()

    def say(self, command: str) -> None:
        stdin = self.process.process.stdin
        assert stdin is not None
        stdin.write(f"{command}\n".encode())

    async def hear(self, pattern: str) -> re.Match[str]:
        """Waits for the next match in its output."""
        try:
            async with asyncio.timeout(TIMEOUT):
                while True:
                    said = plain(self._said)
                    if match := re.search(pattern, said, re.MULTILINE):
                        self._said = said[match.end():]
                        return match
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise TimeoutError(
                f"{self.process.name} did not say {pattern!r}, but {plain(self._said)!r}") from None

    @classmethod
    @contextlib.asynccontextmanager
    async def of(cls, *command: str) -> AsyncIterator[Shell]:
        """Starts a program, and ends it.

        `quit` would not do: bluetoothctl reads no commands after bluetoothd has crashed.
        """
        shell = cls(await Process.start(command[0], *command, pipe=True))
        try:
            yield shell
        finally:
            await shell.process.kill()
            shell._reader.cancel()
