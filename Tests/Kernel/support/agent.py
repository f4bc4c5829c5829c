"""This package's library in a separate process, controlled by a case."""

from __future__ import annotations

import asyncio
import itertools
import json
import pathlib
from collections.abc import Callable
from typing import Any

from support.processes import BINARIES, TIMEOUT, Process


class AgentError(Exception):
    """A call that failed; `kind` is the kind of error, as named by `KernelAgent.swift`."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Agent:
    """A `kernel-agent`. Each call is answered once; unsolicited events are collected in `events`."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.events: list[dict[str, Any]] = []
        self.answered: dict[int, int] = {}
        self._connected: list[int] = []
        self._changed = asyncio.Event()
        self._pending: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count(1)
        self._reader = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, name: str = "agent", *command: str | pathlib.Path) -> Agent:
        """Starts an agent; `command` comes before it, such as one that changes the user."""
        return cls(await Process.start(name, *command, BINARIES / "kernel-agent", pipe=True))

    async def _read(self) -> None:
        output = self.process.process.stdout
        assert output is not None
        while line := await output.readline():
            message = json.loads(line)
            if "event" in message:
                self.events.append(message)
                if message["event"] == "connected":
                    self._connected.append(message["connection"])
                elif message["event"] == "disconnected" and message["connection"] in self._connected:
                    self._connected.remove(message["connection"])
                self._changed.set()
                continue
            number = message["id"]
            self.answered[number] = self.answered.get(number, 0) + 1
            future = self._pending.pop(number, None)
            if future is None or future.done():
                continue
            if "error" in message:
                future.set_exception(AgentError(message["kind"], message["error"]))
            else:
                future.set_result(message)
        for future in self._pending.values():
            if not future.done():
                future.set_exception(AgentError("ended", "the agent has ended"))

    def begin(self, call: str, **arguments: Any) -> asyncio.Future[dict[str, Any]]:
        """Makes a call and returns a future of its answer."""
        number = next(self._numbers)
        future: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[number] = future
        request = {"id": number, "call": call, **{key: value for key, value in arguments.items() if value is not None}}
        stdin = self.process.process.stdin
        assert stdin is not None
        stdin.write(json.dumps(request).encode() + b"\n")
        return future

    async def __call__(self, call: str, **arguments: Any) -> dict[str, Any]:
        """Makes a call and waits for its answer."""
        return await asyncio.wait_for(self.begin(call, **arguments), 2 * TIMEOUT)

    async def cancel(self, answer: asyncio.Future[dict[str, Any]]) -> None:
        """Cancels a call that `begin` made; it is still answered."""
        await self("cancel", request=next(number for number, future in self._pending.items() if future is answer))

    async def event(self, name: str, timeout: float = TIMEOUT, **fields: Any) -> dict[str, Any]:
        """Takes the oldest event of a name, with these fields, waiting for it if necessary."""

        def fits(event: dict[str, Any]) -> bool:
            return event["event"] == name and all(event.get(key) == value for key, value in fields.items())

        return await self._take(fits, f"the event {name} {fields or ''}", timeout)

    async def removed(self) -> None:
        """Waits until the adapter is gone. Discards an earlier `ready`, which may arrive after the opening."""
        await self.event("removed")
        self.events[:] = [event for event in self.events if event["event"] != "ready"]

    async def _take(
        self, fits: Callable[[dict[str, Any]], bool], what: str, timeout: float
    ) -> dict[str, Any]:
        end = asyncio.get_running_loop().time() + timeout
        while True:
            for index, event in enumerate(self.events):
                if fits(event):
                    return self.events.pop(index)
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), end - asyncio.get_running_loop().time())
            except TimeoutError:
                raise TimeoutError(f"waited {timeout:.0f} s for {what}; there are {self.events}") from None

    def connected(self) -> list[int]:
        """The current connections that peers made, the latest one last."""
        return list(self._connected)

    async def stop(self) -> None:
        """Closes the adapter and ends the process cleanly."""
        stdin = self.process.process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.close()
        try:
            await asyncio.wait_for(self.process.process.wait(), TIMEOUT)
        except TimeoutError:
            await self.process.kill()
            raise TimeoutError("the agent did not end when its input did") from None
        finally:
            self._reader.cancel()

    async def kill(self) -> None:
        await self.process.kill()
        self._reader.cancel()
