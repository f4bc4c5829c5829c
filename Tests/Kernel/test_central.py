"""Our library as a central, with BlueZ as the peripheral: scanning, connecting and disconnecting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from support import card
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.processes import BINARIES, TIMEOUT, output_of, until
from support.radio import ADDRESSES
from support.sample import NAME, Sample, connect

# An address without a device.
ABSENT = "00:AA:01:09:00:09"


@pytest_asyncio.fixture(scope="module")
async def sample(daemon: BlueZ) -> AsyncIterator[Sample]:
    await daemon.adapter("hci1")
    sample = Sample(daemon)
    async with sample.served():
        yield sample


@pytest_asyncio.fixture(scope="module")
async def agent(sample: Sample) -> AsyncIterator[Agent]:
    """Our library on hci0."""
    agent = await Agent.start("agent0")
    await agent("open", transport="hci-socket:0")
    yield agent
    await agent.stop()


async def device(bluez: BlueZ, **properties: Any) -> str:
    """The path of BlueZ's device for hci0, once it has these properties."""
    path = "/org/bluez/hci1/dev_" + ADDRESSES[0].replace(":", "_")
    async with asyncio.timeout(TIMEOUT):
        while True:
            found = (await bluez.objects()).get(path, {}).get("org.bluez.Device1", {})
            if found and all(found[name] == value for name, value in properties.items()):
                return path
            await asyncio.sleep(0.02)


# Before the agent takes hci0.
async def test_our_central_gets_the_card_from_bluez(sample: Sample) -> None:
    central = asyncio.create_task(output_of(BINARIES / "central", "--transport", "hci-socket:0", "--name", NAME))
    await until(lambda: sample.card.is_notifying, "a subscription to the card")
    await sample.send_card(card.CARD)
    status, output, errors = await central
    assert (status, output) == (0, card.CARD.decode()), errors


# MARK: Finding

async def test_a_device_is_found_by_its_service_and_by_its_name(agent: Agent, sample: Sample) -> None:
    for sought in ({"services": [card.SERVICE]}, {"name": NAME}, {"address": f"{ADDRESSES[1]}/P"}):
        found = await agent("firstSighting", **sought)
        assert found["address"] == f"{ADDRESSES[1]}/P"
        assert [service.lower() for service in found["services"]] == [card.SERVICE]
    for sought in ({"services": ["180d"]}, {"name": NAME.lower()}, {"address": ABSENT}):
        with pytest.raises(AgentError) as failure:
            await agent("firstSighting", timeout=0.5, **sought)
        assert failure.value.kind == "timedOut"


# MARK: Connecting

async def test_a_link_that_we_end(agent: Agent, bluez: BlueZ, sample: Sample) -> None:
    for _ in range(3):
        link = await connect(agent, ADDRESSES[1])
        await device(bluez, Connected=True)
        await link("disconnect")
        # btvirt reports the peer's reason to this side as well.
        assert await link.ended() in ("this device ended the connection", "the peer ended the connection")
        await device(bluez, Connected=False)


async def test_a_link_that_bluez_ends(agent: Agent, bluez: BlueZ, sample: Sample) -> None:
    for _ in range(3):
        link = await connect(agent, ADDRESSES[1])
        waiting = agent.begin("waitForDisconnection", connection=link.number)
        path = await device(bluez, Connected=True)
        await bluez.call(path, "org.bluez.Device1.Disconnect")
        assert await link.ended() == "the peer ended the connection"
        assert (await waiting)["reason"] == "the peer ended the connection"
        with pytest.raises(AgentError) as failure:
            await link("read", handle=sample.value.handle)
        assert (failure.value.kind, str(failure.value)) == (
            "disconnected", "disconnected: the peer ended the connection")


async def test_what_is_pending_when_the_kernel_ends_the_link(agent: Agent, bluez: BlueZ, sample: Sample) -> None:
    link = await connect(agent, ADDRESSES[1])
    await link("discover")
    await link("subscribe", handle=sample.notifying.handle)
    has_discovered = asyncio.Event()

    async def discover() -> str:
        """Discovers until that fails, so that discoveries are pending whenever the link ends."""
        while True:
            try:
                await agent("discover", connection=link.number)
                has_discovered.set()
            except AgentError as error:
                return error.kind

    async with asyncio.TaskGroup() as group:
        pending = [group.create_task(discover()) for _ in range(8)]
        await has_discovered.wait()
        status, output, _ = await output_of("btmgmt", "-i", "hci1", "disconnect", "-t", "1", ADDRESSES[0])
        assert status == 0, output
    assert {task.result() for task in pending} == {"disconnected"}
    assert await link.ended() == "the peer ended the connection"
    end = await agent.event("unsubscribed", connection=link.number)
    assert end["reason"] == "disconnected: the peer ended the connection"
    assert set(agent.answered.values()) == {1}


async def test_a_peer_that_is_not_there(agent: Agent) -> None:
    # btvirt does not wait for it, and reports at once that the connection failed to be established.
    with pytest.raises(AgentError, match="failed to be established"):
        await agent("connect", address=f"{ABSENT}/P", timeout=TIMEOUT)
    assert set(agent.answered.values()) == {1}


# MARK: BlueZ as the client of its central

async def test_bluez_discovers_and_reads_its_central(agent: Agent, bluez: BlueZ, sample: Sample) -> None:
    value = {"uuid": "2a19", "properties": 0x02, "value": "64"}
    published = await agent("publish", service={"uuid": "180f", "characteristics": [value]})
    link = await connect(agent, ADDRESSES[1])
    path = await device(bluez, ServicesResolved=True)
    found = [
        characteristic for characteristic, interfaces in (await bluez.objects()).items()
        if characteristic.startswith(path)
        and interfaces.get("org.bluez.GattCharacteristic1", {}).get("UUID", "").startswith("00002a19")]
    assert len(found) == 1
    assert await bluez.call(found[0], "org.bluez.GattCharacteristic1.ReadValue", "a{sv}", {}) == b"\x64"
    await link("disconnect")
    await agent("withdraw", handle=published["service"]["handle"])


async def test_bluez_wants_to_pair(agent: Agent, bluez: BlueZ, sample: Sample) -> None:
    link = await connect(agent, ADDRESSES[1])
    await link("discover")
    path = await device(bluez, Connected=True, ServicesResolved=True)
    with pytest.raises(RuntimeError, match="AuthenticationFailed"):
        await bluez.call(path, "org.bluez.Device1.Pair")
    # We refuse, and the kernel on the other side ends the link for that reason.
    assert await link.ended() == "encryption failed: Authentication Failure"
    link = await connect(agent, ADDRESSES[1])
    assert bytes.fromhex((await link("read", handle=sample.read_only.handle))["value"]) == b"fixed"
    await link("disconnect")
