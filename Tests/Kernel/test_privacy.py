"""Private addresses, ours and BlueZ's: bonded devices know each other under any of them."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator

import pytest
from conftest import AgentFactory
from support.agent import Agent
from support.bluez import BlueZ
from support.pairing import JUST_WORKS, OURS, consent, person, until_known
from support.peripheral import BATTERY
from support.processes import TIMEOUT, output_of, until
from support.radio import ADDRESSES
from support.sample import NAME, Link, Sample
from support.shell import Shell

THEIRS = ADDRESSES[1]
UUID = "00000001-3c1f-4f0c-8d0b-2f6f3c9f1b7a"
SERVICE = {"uuid": BATTERY, "characteristics": [
    {"uuid": UUID, "properties": 0x02, "value": b"a secret".hex(), "needsEncryption": True}]}


def is_resolvable(address: str) -> bool:
    return int(address[:2], 16) >> 6 == 0b01


async def found(bluez: BlueZ, shell: Shell, agent: Agent, name: str) -> str:
    """The address at which BlueZ finds our peripheral, which starts advertising when BlueZ listens."""
    shell.say("scan le")
    await shell.hear("Discovery started")
    await agent("advertise", name=name, services=[BATTERY])
    device = await shell.hear(rf"Device ([0-9A-F:]+) .*{name}")
    shell.say("scan off")
    await shell.hear("Discovery stopped")
    return device[1]


async def devices(bluez: BlueZ) -> list[str]:
    """The addresses of the devices that BlueZ knows."""
    return sorted(
        interfaces["org.bluez.Device1"]["Address"] for path, interfaces in (await bluez.objects()).items()
        if path.startswith("/org/bluez/hci1/") and "org.bluez.Device1" in interfaces)


async def test_our_private_peripheral_is_one_device_once_it_is_bonded(
    agents: AgentFactory, bluez: BlueZ, tmp_path: pathlib.Path
) -> None:
    # After cases in which a key was refused the kernel does not look for this address. That ends with its power.
    await bluez.power("hci1", False)
    await bluez.power("hci1", True)
    async with person(JUST_WORKS) as shell:
        for run in range(3):
            # The key is kept with the bonds; the address is another one in each run.
            agent = await agents(isPrivate=True, bonds=str(tmp_path))
            await agent("publish", service=SERVICE)
            await agent("beAgent", capability="noInputNoOutput")
            if run == 0:
                address = await found(bluez, shell, agent, "Private")
                assert is_resolvable(address)
                shell.say(f"pair {address}")
                await agent.event("asked", question="consent")
                await agent("answerPairing", isAccepted=True)
                await shell.hear("Pairing successful")
            else:
                await agent("advertise", name="Private", services=[BATTERY])
                shell.say(f"connect {OURS}")
                await shell.hear("Connection successful")
            await until_known(bluez, Bonded=True, Connected=True, AddressType="public")
            assert await devices(bluez) == [OURS]
            await until(agent.connected, "our end of the link")
            number = agent.connected()[-1]
            await until_secure(agent, number)
            assert len([event for event in agent.events if event["event"] == "asked"]) == 0
            await agent("disconnect", connection=number)
            await agent.event("disconnected")
            await until_known(bluez, Connected=False)
            await agent.stop()


async def test_our_private_central_is_one_device_once_it_is_bonded(
    agents: AgentFactory, bluez: BlueZ, tmp_path: pathlib.Path
) -> None:
    sample = Sample(bluez)
    async with sample.served(), person(JUST_WORKS) as shell:
        for run in range(3):
            agent = await agents(isPrivate=True, bonds=str(tmp_path))
            await agent("beAgent", capability="noInputNoOutput")
            link = await linked(agent, NAME)
            if run == 0:
                (address,) = await devices(bluez)
                assert is_resolvable(address)
                answer = agent.begin("pair", connection=link.number)
                await consent(shell)
                assert (await answer)["security"] == JUST_WORKS.security
            await until_known(bluez, Bonded=True, Connected=True, AddressType="public")
            assert await devices(bluez) == [OURS]
            value = await link("read", handle=sample.encrypted.handle)
            assert bytes.fromhex(value["value"]) == sample.encrypted.value
            await link("disconnect")
            await link.ended()
            await until_known(bluez, Connected=False)
            await agent.stop()


async def until_secure(agent: Agent, number: int) -> None:
    """Waits for encryption with the bond's keys: BlueZ reports a device as connected earlier."""
    async with asyncio.timeout(TIMEOUT):
        while (await agent("security", connection=number))["security"] != JUST_WORKS.security:
            await asyncio.sleep(0.02)


async def linked(agent: Agent, name: str) -> Link:
    """Connects to the device found under a name."""
    sighting = await agent("firstSighting", name=name)
    answer = await agent("connect", address=sighting["address"])
    return Link(agent, answer["connection"], answer["mtu"])


# MARK: BlueZ with private addresses

@contextlib.asynccontextmanager
async def private(bluez: BlueZ) -> AsyncIterator[None]:
    """BlueZ's adapter with private addresses."""
    async def switch(kind: str) -> None:
        for command in (["power", "off"], ["privacy", kind], ["power", "on"]):
            status, output, errors = await output_of("btmgmt", "-i", "hci1", *command)
            assert status == 0, f"{command}: {output} {errors}"
        await bluez.adapter("hci1")

    await switch("on")
    try:
        yield
    finally:
        await switch("off")


async def renewed(bluez: BlueZ) -> None:
    """Makes the kernel switch to another private address."""
    for command in (["power", "off"], ["power", "on"]):
        assert (await output_of("btmgmt", "-i", "hci1", *command))[0] == 0
    await bluez.adapter("hci1")


@pytest.mark.parametrize("allows", [True, False], ids=["device privacy mode", "network privacy mode"])
async def test_bluez_with_private_addresses_as_a_peripheral(
    agents: AgentFactory, bluez: BlueZ, allows: bool
) -> None:
    async with private(bluez):
        sample = Sample(bluez)
        agent = await agents(allowsIdentityAddresses=allows)
        await agent("beAgent", capability="noInputNoOutput")
        async with sample.served(), person(JUST_WORKS) as shell:
            sighting = await agent("firstSighting", name=NAME)
            assert is_resolvable(sighting["address"]), sighting
            answer = await agent("connect", address=sighting["address"])
            link = Link(agent, answer["connection"], answer["mtu"])
            pairing = agent.begin("pair", connection=link.number)
            await consent(shell)
            assert (await pairing)["security"] == JUST_WORKS.security
            assert (await agent("bonds"))["peers"] == [f"{THEIRS}/P"]
            await link("disconnect")
            await link.ended()
        await renewed(bluez)
        async with sample.served():
            # By its identity, whatever its address is now.
            answer = await agent("connect", address=f"{THEIRS}/P")
            link = Link(agent, answer["connection"], answer["mtu"])
            assert (await link("security"))["security"] == JUST_WORKS.security
            value = await link("read", handle=sample.encrypted.handle)
            assert bytes.fromhex(value["value"]) == sample.encrypted.value
            await link("disconnect")
            await link.ended()


async def test_bluez_with_private_addresses_as_a_central(agents: AgentFactory, bluez: BlueZ) -> None:
    async with private(bluez), person(JUST_WORKS) as shell:
        agent = await agents()
        await agent("publish", service=SERVICE)
        await agent("beAgent", capability="noInputNoOutput")
        assert await found(bluez, shell, agent, "Public") == OURS
        shell.say(f"pair {OURS}")
        await agent.event("asked", question="consent")
        first = await agent.event("connected")
        assert is_resolvable(first["address"])
        await agent("answerPairing", isAccepted=True)
        await shell.hear("Pairing successful")
        assert (await agent("bonds"))["peers"] == [f"{THEIRS}/P"]
        await agent("disconnect", connection=first["connection"])
        await agent.event("disconnected")
        await until_known(bluez, Connected=False)
        await renewed(bluez)
        shell.say(f"connect {OURS}")
        await shell.hear("Connection successful")
        again = await agent.event("connected")
        # From another address, and the same peer to us.
        assert again["address"] != first["address"]
        # BlueZ encrypts the link once it is there.
        for _ in range(200):
            security = await agent("security", connection=again["connection"])
            if security["security"]["isEncrypted"]:
                break
            await asyncio.sleep(0.05)
        assert security["security"] == JUST_WORKS.security
