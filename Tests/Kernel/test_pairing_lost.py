"""Bonds with BlueZ that one side has lost: the error on each side, and pairing again."""

from __future__ import annotations

import pytest
from conftest import AgentFactory
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.pairing import (
    JUST_WORKS, OURS, THEIRS, characteristic_of, consent, leave, paired, person, read, until_known)
from support.peripheral import Peripheral
from support.sample import Sample, connect

REFUSED = "the peer refused: the numbers were not confirmed to be equal"

# The cases wait for the daemon that is started again, but it may crash before or behind the place where they do.
bluetoothd_may_crash = pytest.mark.flaky(
    reruns=2, reason="bluetoothd 5.66 crashes now and then after the key of a bond was refused")


# MARK: Our central

async def refusal(agent: Agent) -> str:
    """Connects to a peer that ends the link, and returns the reason.

    The link may end before its negotiation has, and then the call fails.
    """
    try:
        link = await connect(agent, THEIRS)
    except AgentError as error:
        return str(error).removeprefix("disconnected: ")
    return await link.ended()


async def test_our_central_has_lost_it(agents: AgentFactory, bluez: BlueZ) -> None:
    agent = await agents()
    sample = Sample(bluez)
    async with sample.served(), person(JUST_WORKS) as shell:
        await leave(await paired(agent, shell, JUST_WORKS))
        await agent("removeBond", address=f"{THEIRS}/P")
        agent.events.clear()
        # The kernel asks for encryption with a Security Request, we have no key, and do not pair by ourselves.
        assert await refusal(agent) == "encryption failed: Authentication Failure"
        await until_known(bluez, Paired=True, Bonded=True, Connected=False)
        # Where we do, bluetoothd refuses: by default it lets nobody replace a bond by Just Works.
        await agent("beAgent", capability="noInputNoOutput", pairsOnDemand=True)
        link = await connect(agent, THEIRS)
        assert (await agent.event("pairingEnded"))["reason"] == REFUSED
        assert (await agent("bonds"))["peers"] == []
        await leave(link)


@bluetoothd_may_crash
async def test_the_peer_of_our_central_has_lost_it(agents: AgentFactory, bluez: BlueZ) -> None:
    agent = await agents()
    async with Sample(bluez).served(), person(JUST_WORKS) as shell:
        await leave(await paired(agent, shell, JUST_WORKS))
        await bluez.forget_devices("hci1")
        agent.events.clear()
        # The kernel has no key, and says so. Our bond is for the application to remove.
        with pytest.raises(AgentError, match="PIN or Key Missing"):
            await connect(agent, THEIRS)
        await agent.event("bondRefused")
        assert (await agent("bonds"))["peers"] == [f"{THEIRS}/P"]
        await agent("removeBond", address=f"{THEIRS}/P")
    # bluetoothd may have crashed meanwhile.
    await bluez.adapter("hci1")
    sample = Sample(bluez)
    async with sample.served(), person(JUST_WORKS) as shell:
        agent.events.clear()
        link = await paired(agent, shell, JUST_WORKS)
        assert bytes.fromhex((await link("read", handle=sample.encrypted.handle))["value"]) == sample.encrypted.value
        await leave(link)


# MARK: Our peripheral

async def pair(peripheral: Peripheral, bluez: BlueZ) -> None:
    """Makes BlueZ pair with our peripheral, and ends the link."""
    agent = peripheral.agent
    async with person(JUST_WORKS) as shell:
        await agent("beAgent", capability="noInputNoOutput")
        shell.say(f"pair {OURS}")
        await agent.event("asked", question="consent")
        await agent("answerPairing", isAccepted=True)
        await shell.hear("Pairing successful")
        path = await characteristic_of(bluez, peripheral.characteristics["encrypted"]["uuid"])
        assert await read(bluez, path) == bytes.fromhex(peripheral.characteristics["encrypted"]["value"])
        assert (await agent("bonds"))["peers"] == [f"{THEIRS}/P"]
        await peripheral.alone()


@bluetoothd_may_crash
async def test_our_peripheral_has_lost_it(bluez: BlueZ) -> None:
    async with Peripheral.started(bluez) as peripheral:
        await pair(peripheral, bluez)
        await peripheral.agent("removeBond", address=f"{THEIRS}/P")
        async with person(JUST_WORKS) as shell:
            shell.say(f"connect {OURS}")
            # We have no key for it, and the kernel ends the link.
            ended = await peripheral.agent.event("disconnected")
            assert ended["reason"] == "encryption failed: Authentication Failure"
        # bluetoothd may have crashed meanwhile.
        await bluez.adapter("hci1")
        await until_known(bluez, Paired=True, Bonded=True, Connected=False)
        assert (await peripheral.agent("bonds"))["peers"] == []


async def test_the_peer_of_our_peripheral_has_lost_it(bluez: BlueZ) -> None:
    async with Peripheral.started(bluez) as peripheral:
        await pair(peripheral, bluez)
        await bluez.forget_devices("hci1")
        await peripheral.sighted()
        peripheral.agent.events.clear()
        # To us it may be anyone with its address: Just Works does not replace a bond.
        agent = peripheral.agent
        async with person(JUST_WORKS) as shell:
            shell.say(f"pair {OURS}")
            await agent.event("asked", question="consent")
            await agent("answerPairing", isAccepted=True)
            assert "authenticate each other" in (await agent.event("pairingEnded"))["reason"]
            assert (await agent("bonds"))["peers"] == [f"{THEIRS}/P"]
            await agent("removeBond", address=f"{THEIRS}/P")
        # bluetoothd may have crashed meanwhile.
        await bluez.adapter("hci1")
        await bluez.forget_devices("hci1")
        await peripheral.alone()
        await peripheral.sighted()
        agent.events.clear()
        await pair(peripheral, bluez)
