"""The kernel's own L2CAP as a peer: sockets of the ATT channel that require a level of security."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import AgentFactory
from support.application import advertising
from support.bluez import BlueZ
from support.l2cap import FIPS, HIGH, LOW, MEDIUM, AttributeSocket
from support.pairing import JUST_WORKS, MODELS, OURS, Model, authenticate, consent, person
from support.peripheral import Peripheral
from support.radio import ADDRESSES
from support.sample import connect

THEIRS = ADDRESSES[1]
PASSKEY = next(model for model in MODELS if model.name == "passkey shown here")
COMPARISON = next(model for model in MODELS if model.name == "numeric comparison")
# What a bonded link needs for each value, and what the kernel does for a socket of that level.
LEVELS = [(MEDIUM, "encrypted", JUST_WORKS), (HIGH, "authenticated", PASSKEY), (FIPS, "authenticated", COMPARISON)]


@pytest_asyncio.fixture
async def peripheral(bluez: BlueZ) -> AsyncIterator[Peripheral]:
    """Our peripheral, without bonds."""
    async with Peripheral.started(bluez) as peripheral:
        yield peripheral


def read_request(handle: int) -> bytes:
    return b"\x0A" + handle.to_bytes(2, "little")


@pytest.mark.parametrize(("level", "name", "model"), LEVELS, ids=["medium", "high", "FIPS"])
async def test_a_client_of_a_level(peripheral: Peripheral, level: int, name: str, model: Model) -> None:
    agent = peripheral.agent
    request = read_request(peripheral.handle(name))
    value = bytes.fromhex(peripheral.characteristics[name]["value"])
    await agent("beAgent", capability=model.ours)
    async with person(model) as shell:
        client = AttributeSocket.of(THEIRS, level)
        connecting = asyncio.ensure_future(client.connect(OURS))
        await agent.event("asked", question="consent")
        await agent("answerPairing", isAccepted=True)
        if model.is_authenticated:
            await authenticate(agent, shell, model)
        else:
            await consent(shell)
        await connecting
        # The kernel opens a fixed channel before the link has its level.
        assert (await agent.event("pairingEnded"))["security"] == model.security
        assert await client.request(request) == b"\x0B" + value
        client.close()
        # bluetoothd uses a link with a bonded device as well, and keeps it.
        await peripheral.alone()
        # The kernel has the keys, and nobody is asked.
        again = AttributeSocket.of(THEIRS, level)
        await again.connect(OURS)
        assert (await agent.event("security"))["security"] == model.security
        assert await again.request(request) == b"\x0B" + value
        assert not [event for event in agent.events if event["event"] in ("asked", "shown")]
        again.close()


async def test_a_client_that_asks_for_nothing(peripheral: Peripheral) -> None:
    client = AttributeSocket.of(THEIRS, LOW)
    await client.connect(OURS)
    handle = peripheral.handle("encrypted")
    assert await client.request(read_request(handle)) == b"\x01\x0A" + handle.to_bytes(2, "little") + b"\x05"
    client.close()
    await peripheral.agent.event("disconnected")


async def test_a_client_whose_pairing_we_refuse(peripheral: Peripheral) -> None:
    async with person(JUST_WORKS):
        await peripheral.agent("beAgent", capability="noInputNoOutput")
        client = AttributeSocket.of(THEIRS, MEDIUM)
        connecting = asyncio.ensure_future(client.connect(OURS))
        await peripheral.agent.event("asked", question="consent")
        await peripheral.agent("answerPairing", isAccepted=False)
        await connecting
        assert (await peripheral.agent.event("disconnected"))["reason"] == "encryption failed: Authentication Failure"
        with pytest.raises(OSError):
            await client.receive()
        client.close()


async def test_a_server_that_asks_for_a_level(agents: AgentFactory, bluez: BlueZ) -> None:
    # A listening socket of a level waits for the client: the kernel opens a fixed channel without any, and asks for nothing.
    server = AttributeSocket.of(THEIRS, MEDIUM)
    server.listen()
    async with advertising(bluez, "Sockets"), person(JUST_WORKS) as shell:
        agent = await agents()
        await agent("beAgent", capability="noInputNoOutput", pairsOnDemand=True)
        accepting = asyncio.ensure_future(server.accept())
        linking = asyncio.ensure_future(connect(agent, THEIRS))
        served = await accepting
        assert (await served.receive())[0] == 0x02
        await served.send(b"\x03\x17\x00")
        link = await linking
        assert (await link("security"))["security"]["isEncrypted"] is False
        # The level of an open socket is another matter: the kernel sends a Security Request.
        served.require(MEDIUM)
        await consent(shell)
        assert (await agent.event("pairingEnded"))["security"] == JUST_WORKS.security
        answer = agent.begin("read", connection=link.number, handle=0x0042)
        while (request := await served.receive()) != read_request(0x0042):
            await served.send(b"\x01" + request[:3] + b"\x0A")
        await served.send(b"\x0Bby the kernel")
        assert bytes.fromhex((await answer)["value"]) == b"by the kernel"
        await link("disconnect")
        await link.ended()
        served.close()
    server.close()


async def test_a_server_that_asks_for_a_level_in_vain(agents: AgentFactory, bluez: BlueZ) -> None:
    server = AttributeSocket.of(THEIRS, LOW)
    server.listen()
    async with advertising(bluez, "Sockets"):
        agent = await agents()
        accepting = asyncio.ensure_future(server.accept())
        linking = asyncio.ensure_future(connect(agent, THEIRS))
        served = await accepting
        assert (await served.receive())[0] == 0x02
        await served.send(b"\x03\x17\x00")
        link = await linking
        served.require(MEDIUM)
        # We have nobody to answer, and say that to the Security Request.
        assert await link.ended() == "encryption failed: Authentication Failure"
        served.close()
    server.close()
