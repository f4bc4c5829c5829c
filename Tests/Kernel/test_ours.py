"""Our library against itself, each side on one of the kernel's adapters, through its user channel."""

from __future__ import annotations

import asyncio
import pathlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.card import CARD
from support.processes import BINARIES, TIMEOUT, Process, output_of
from support.sample import UUID, Link, connect, numbered

SERVICE = UUID.format(0)
BURST = 500


# Before the agents take the adapters.
async def test_our_programs_hand_over_the_card(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    payload = tmp_path / "card"
    payload.write_bytes(CARD)
    peripheral = await Process.start(
        "peripheral", BINARIES / "peripheral", "--transport", "hci-socket:0", "--payload", payload, "--once")
    status, output, errors = await output_of(
        BINARIES / "central", "--transport", "hci-socket:1", "--name", "BCS", timeout=2 * TIMEOUT)
    assert (status, output) == (0, CARD.decode()), errors
    assert await asyncio.wait_for(peripheral.process.wait(), TIMEOUT) == 0


@pytest_asyncio.fixture(scope="module")
async def pair(daemon: BlueZ) -> AsyncIterator[tuple[Agent, Agent]]:
    """Our library on hci0 and on hci1."""
    central, peripheral = [await Agent.start(f"agent{number}") for number in range(2)]
    for number, agent in enumerate((central, peripheral)):
        await agent("open", transport=f"hci-socket:{number}")
    yield central, peripheral
    for agent in (central, peripheral):
        await agent.stop()


class Both:
    """A link between two agents, as seen by either of them, and the characteristics of the peripheral."""

    def __init__(self, central: Link, peripheral: Link, value: int, notifying: int, indicating: int) -> None:
        self.central = central
        self.peripheral = peripheral
        self.value = value
        self.notifying = notifying
        self.indicating = indicating


@pytest_asyncio.fixture
async def both(pair: tuple[Agent, Agent]) -> AsyncIterator[Both]:
    central, peripheral = pair
    published = await peripheral("publish", service={"uuid": SERVICE, "characteristics": [
        {"uuid": UUID.format(1), "properties": 0x0E, "isDynamic": True},
        {"uuid": UUID.format(2), "properties": 0x10},
        {"uuid": UUID.format(3), "properties": 0x20}]})
    handles = [characteristic["handle"] for characteristic in published["service"]["characteristics"]]
    await peripheral("advertise", name="Ours", services=[SERVICE])
    found = await central("firstSighting", services=[SERVICE])
    link = await connect(central, found["address"].removesuffix("/P"))
    accepted = await peripheral.event("connected")
    await peripheral("stopAdvertising")
    await link("discover")
    yield Both(link, Link(peripheral, accepted["connection"], link.mtu), *handles)
    await link("disconnect")
    await peripheral("withdraw", handle=published["service"]["handle"])
    for agent in pair:
        agent.events.clear()


async def test_values_of_any_length(both: Both) -> None:
    assert both.central.mtu == 517
    for length in (0, 1, 22, 188, 189, 255, 256, 511, 512):
        value = bytes(index % 251 for index in range(length))
        await both.central("write", handle=both.value, value=value.hex())
        written = await both.peripheral.agent.event("written", handle=both.value)
        assert bytes.fromhex(written["value"]) == value
        assert bytes.fromhex((await both.central("read", handle=both.value))["value"]) == value


async def test_bursts_both_ways_at_once(both: Both) -> None:
    await both.central("subscribe", handle=both.notifying)
    await both.peripheral.agent.event("subscribed", handle=both.notifying)
    sent = numbered(BURST)
    # The peripheral appends the number to the value.
    notified = [b"\x5A" * 16 + number.to_bytes(4, "little") for number in range(BURST)]
    await asyncio.gather(
        both.central("burst", handle=both.value, value=sent[0].hex(), count=BURST),
        both.peripheral.agent("notify", handle=both.notifying, value="5a" * 16, count=BURST))
    assert await both.central.values(both.notifying, BURST) == notified
    written = [await both.peripheral.agent.event("written", handle=both.value) for _ in range(BURST)]
    assert [bytes.fromhex(event["value"]) for event in written] == sent


async def test_indications(both: Both) -> None:
    await both.central("subscribe", handle=both.indicating)
    await both.peripheral.agent.event("subscribed", handle=both.indicating)
    await both.peripheral.agent("indicate", handle=both.indicating, value="5a", count=50)
    assert await both.central.values(both.indicating, 50) == [
        b"\x5A" + number.to_bytes(4, "little") for number in range(50)]


@pytest.mark.parametrize("ends", ["central", "peripheral"])
async def test_either_ends_the_link_amid_a_transfer(both: Both, ends: str) -> None:
    await both.central("subscribe", handle=both.notifying)
    await both.peripheral.agent.event("subscribed", handle=both.notifying)
    calls = [
        both.central.agent.begin(
            "burst", connection=both.central.number, handle=both.value, value="00" * 20, count=100_000),
        both.peripheral.agent.begin("notify", handle=both.notifying, value="5a" * 16, count=100_000)]
    await both.central.values(both.notifying, 10)
    await both.peripheral.agent.event("written", handle=both.value)
    ender, other = (both.central, both.peripheral) if ends == "central" else (both.peripheral, both.central)
    await ender("disconnect")
    # btvirt reports the peer's reason to this side as well.
    assert await ender.ended() in ("this device ended the connection", "the peer ended the connection")
    assert await other.ended() == "the peer ended the connection"
    for call in calls:
        with pytest.raises(AgentError) as failure:
            await asyncio.wait_for(call, TIMEOUT)
        assert failure.value.kind == "disconnected"
    for agent in (both.central.agent, both.peripheral.agent):
        assert set(agent.answered.values()) == {1}
