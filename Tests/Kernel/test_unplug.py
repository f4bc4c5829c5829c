"""Adapters that are unplugged and plugged in again. Ending BlueZ's emulator unplugs both of them."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from conftest import AgentFactory
from support.agent import Agent, AgentError
from support.card import CHARACTERISTIC, SERVICE
from support.processes import TIMEOUT
from support.radio import Radio

ROUNDS = 40
# The operations in progress when the adapters are unplugged; each starts with both ends idle.
PHASES = ["scan", "connect", "discover", "transfer", "write"]


async def outcome(call: asyncio.Future[dict[str, Any]]) -> str:
    """The outcome of a call: `done`, the kind of its error, or a description of the problem."""
    try:
        await asyncio.wait_for(call, 2 * TIMEOUT)
        return "done"
    except AgentError as error:
        return error.kind if error.kind != "agent" else str(error)


async def published(agent: Agent) -> int:
    """Publishes the services for the phases and advertises them. Returns the handle of the value."""
    service = await agent("publish", service={
        "uuid": SERVICE, "characteristics": [{"uuid": CHARACTERISTIC, "properties": 0x1E, "value": "00" * 200}]})
    await agent("advertise", name="BCS", services=[SERVICE])
    return int(service["service"]["characteristics"][0]["handle"])


class Scene:
    """Two agents, one of which advertises, and the calls that are pending at one of them."""

    def __init__(self, central: Agent, peripheral: Agent, address: str, handle: int) -> None:
        self.central = central
        self.peripheral = peripheral
        self.address = address
        self.handle = handle
        self.calls: list[asyncio.Future[dict[str, Any]]] = []

    async def begin(self, phase: str) -> None:
        """Starts a phase."""
        central = self.central
        self.calls = [central.begin("scan"), central.begin("firstSighting", address="00:00:00:00:00:01/P", timeout=30)]
        if phase == "scan":
            return
        if phase == "connect":
            self.calls.append(central.begin("connect", address=self.address, timeout=999))
            return
        connection = (await central("connect", address=self.address))["connection"]
        if phase == "discover":
            self.calls += [central.begin("discover", connection=connection) for _ in range(3)]
            return
        await central("discover", connection=connection)
        self.calls.append(central.begin("waitForDisconnection", connection=connection))
        if phase == "transfer":
            await central("subscribe", connection=connection, handle=self.handle)
            self.calls.append(self.peripheral.begin("notify", handle=self.handle, value="00" * 16, count=1_000_000))
        else:
            self.calls += [
                central.begin("write", connection=connection, handle=self.handle, value="00" * 200) for _ in range(8)]
            self.calls.append(
                central.begin("burst", connection=connection, handle=self.handle, value="00" * 20, count=1_000_000))

    async def unplugged(self) -> list[str]:
        """The outcomes of the calls, once both ends know that their adapters are gone."""
        for agent in (self.central, self.peripheral):
            await agent.removed()
        return [await outcome(call) for call in self.calls]

    async def back(self) -> None:
        for agent in (self.central, self.peripheral):
            await agent.event("ready")


# Each round starts the emulator, which may take several attempts.
@pytest.mark.timeout(700)
async def test_every_call_ends_once_and_the_adapter_is_taken_up_again(radio: Radio, agents: AgentFactory) -> None:
    central, peripheral = await agents("hci-socket:0"), await agents("hci-socket:1")
    handle = await published(peripheral)
    scene = Scene(central, peripheral, (await peripheral("information"))["address"], handle)
    generator = random.Random(1)
    sizes: list[list[int]] = []
    for round_number in range(ROUNDS):
        await scene.begin(PHASES[round_number % len(PHASES)])
        await asyncio.sleep(generator.uniform(0, 0.2))
        await radio.stop()
        outcomes = await scene.unplugged()
        # Scans do not end by themselves, so this must have ended them. The other calls may have ended before.
        assert outcomes[:2] == ["adapterRemoved"] * 2, (round_number, outcomes)
        assert set(outcomes) <= {"adapterRemoved", "done"}, (round_number, outcomes)
        await radio.start()
        await scene.back()
        # Advertising has resumed by itself.
        assert (await central("firstSighting", services=[SERVICE]))["name"] == "BCS"
        for agent in (central, peripheral):
            assert set(agent.answered.values()) == {1}
            agent.events.clear()
        sizes.append([(await agent("heap"))["count"] for agent in (central, peripheral)])
    # One-time allocations have been made by then. The agents remember past connections, and the runtime keeps a
    # cancelled timeout until its deadline.
    for early, late in zip(zip(*sizes[10:20]), zip(*sizes[-10:])):
        assert max(late) - max(early) < ROUNDS * 4096, sizes
