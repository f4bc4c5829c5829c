"""Links between BlueZ and our peripheral: disconnecting, reconnecting, and their parameters in between."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from bleak.exc import BleakError
from support.agent import AgentError
from support.bluez import BlueZ
from support.peripheral import Link, Peripheral, octets
from support.processes import TIMEOUT, output_of, until
from support.shell import Shell

# Why a link ended, in the words of the kernel's management interface (MGMT_DEV_DISCONN_…).
UNKNOWN, BY_LOCAL, BY_REMOTE = "0", "2", "3"


@pytest_asyncio.fixture
async def management(peripheral: Peripheral) -> AsyncIterator[Shell]:
    """The kernel's management events about hci1."""
    async with Shell.of("btmgmt") as shell:
        shell.say("select 1")
        await shell.hear("Selected index 1")
        yield shell


async def reason(management: Shell) -> str:
    """The reason that BlueZ reports for the next disconnection."""
    return (await management.hear(r"disconnected with reason (\d+)"))[1]


async def use(link: Link) -> None:
    """Checks that a link works."""
    assert await link.read("value 512") == octets(512)
    values = await link.subscribe("notifying")
    await link.peripheral.agent("notify", handle=link.peripheral.handle("notifying"), value="aa")
    await until(lambda: values == [b"\xAA"], "the notification")


async def test_bluez_leaves_and_comes_back(peripheral: Peripheral, management: Shell) -> None:
    for _ in range(2):
        async with peripheral.connected() as link:
            await use(link)
            await link.client.disconnect()
            assert await link.ended() == "the peer ended the connection"
            # btvirt 5.66 reports the reason given by one end to both, so each end seems to have been disconnected by
            # the other.
            assert await reason(management) in (BY_LOCAL, BY_REMOTE)
            # A device that is not bonded must subscribe again.
            await link.event("unsubscribed", "notifying")
            assert (await peripheral.agent("notify", handle=peripheral.handle("notifying"), value="bb"))["count"] == 0


async def test_we_leave_and_bluez_comes_back(peripheral: Peripheral, management: Shell) -> None:
    for _ in range(2):
        async with peripheral.connected() as link:
            await use(link)
            await link("disconnect")
            assert await reason(management) == BY_REMOTE
            await until(lambda: not link.client.is_connected, "bleak to notice")
            with pytest.raises(BleakError):
                await link.read("value 1")
            await link.event("unsubscribed", "notifying")
            with pytest.raises(AgentError, match="ended"):
                await link("parameters")


async def test_bluez_is_switched_off(peripheral: Peripheral, bluez: BlueZ) -> None:
    async with peripheral.connected() as link:
        await use(link)
        try:
            await bluez.power("hci1", False)
            assert await link.ended() == "the peer shut down"
        finally:
            await bluez.power("hci1", True)
    async with peripheral.connected() as link:
        await use(link)


async def test_what_needs_encryption_makes_bluez_pair_which_we_refuse(
    peripheral: Peripheral, management: Shell
) -> None:
    async with peripheral.connected() as link:
        read = asyncio.create_task(link.read("encrypted"))
        # The kernel ends a link on which pairing has failed.
        assert await link.ended() == "encryption failed: Authentication Failure"
        assert await reason(management) in (UNKNOWN, BY_LOCAL)
        # The read fails, or is never answered: that is what bluetoothd 5.87 does.
        read.cancel()
        assert isinstance((await asyncio.gather(read, return_exceptions=True))[0], (BleakError, asyncio.CancelledError))
    async with peripheral.connected() as link:
        await use(link)


# MARK: Parameters

async def parameters(link: Link, interval: float) -> dict[str, float]:
    """The connection parameters at our end, once the interval is this one."""
    async with asyncio.timeout(TIMEOUT):
        while (known := (await link("parameters"))["parameters"])["interval"] != interval:
            await asyncio.sleep(0.02)
    return known


async def test_we_ask_for_other_parameters_and_bluez_grants_them(link: Link) -> None:
    for wanted in ({"interval": 50, "latency": 2, "timeout": 3000}, {"interval": 7.5, "latency": 0, "timeout": 1000}):
        await link("updateParameters", parameters=wanted)
        assert (await link("parameters"))["parameters"] == wanted
    await use(link)


async def test_bluez_changes_the_parameters(link: Link) -> None:
    _, connections, _ = await output_of("hcitool", "-i", "hci1", "con")
    handle = re.search(r"handle (\d+)", connections)
    assert handle is not None
    status, _, errors = await output_of(
        "hcitool", "-i", "hci1", "lecup", "--handle", handle[1], "--min", "16", "--max", "16", "--latency", "3",
        "--timeout", "400")
    assert (status, errors) == (0, "")
    assert await parameters(link, 20) == {"interval": 20, "latency": 3, "timeout": 4000}
    await use(link)


async def test_a_controller_that_cannot_tell_the_signal_strength_says_so(link: Link) -> None:
    # btvirt has no Read RSSI up to 5.66. Later versions answer it.
    try:
        assert -127 <= (await link("rssi"))["rssi"] <= 20
    except AgentError as error:
        assert "Unknown HCI Command" in str(error)
    await use(link)
