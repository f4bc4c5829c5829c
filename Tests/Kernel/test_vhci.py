"""Our virtual radio's controllers as the kernel's adapters: `ble radio vhci vhci`."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
from collections.abc import AsyncIterator

import pytest_asyncio
from support import client
from support.bluez import BlueZ
from support.card import CARD, CHARACTERISTIC, SERVICE
from support.processes import BINARIES, TIMEOUT, Process, output_of, until
from support.radio import OUR_ADDRESSES, OurRadio

@pytest_asyncio.fixture
async def ours(bluez: BlueZ) -> AsyncIterator[OurRadio]:
    """The adapters of our radio, both managed by BlueZ and powered."""
    radio = await OurRadio.start()
    for name in radio.adapters:
        await bluez.adapter(name)
    yield radio
    with contextlib.suppress(TimeoutError):
        await radio.stop()


async def test_the_kernel_brings_our_controllers_up_without_an_error(ours: OurRadio) -> None:
    for name, address in zip(ours.adapters, OUR_ADDRESSES, strict=False):
        for step in ("down", "up"):
            status, _, errors = await output_of("hciconfig", name, step)
            assert (status, errors) == (0, "")
        status, output, _ = await output_of("hciconfig", name)
        assert f"BD Address: {address}" in output and "UP RUNNING" in output
    _, messages, _ = await output_of("dmesg")
    messages = messages.rpartition(OurRadio.MARK)[2]
    assert not [line for line in messages.splitlines() if any(f"{name}: " in line for name in ours.adapters)]


async def test_bluez_gets_the_card_over_our_radio(ours: OurRadio, tmp_path: pathlib.Path) -> None:
    payload = tmp_path / "card"
    payload.write_bytes(CARD)
    near, far = ours.adapters
    peripheral = await Process.start(
        "peripheral", BINARIES / "peripheral", "--transport", f"hci-socket:{near.removeprefix('hci')}", "--name", "BCS",
        "--payload", payload, "--once")
    device = await client.found(SERVICE, "BCS", adapter=far)
    assert device.address == OUR_ADDRESSES[0]
    async with client.connected(device, adapter=far) as connection:
        assert await client.card(connection, CHARACTERISTIC) == CARD
    assert await asyncio.wait_for(peripheral.process.wait(), TIMEOUT) == 0


async def test_our_programs_meet_over_the_kernels_adapters(ours: OurRadio, tmp_path: pathlib.Path) -> None:
    payload = tmp_path / "card"
    payload.write_bytes(CARD)
    near, far = (f"hci-socket:{name.removeprefix('hci')}" for name in ours.adapters)
    peripheral = await Process.start(
        "peripheral", BINARIES / "peripheral", "--transport", near, "--payload", payload, "--once")
    status, output, errors = await output_of(BINARIES / "central", "--transport", far, "--timeout", str(TIMEOUT))
    assert (status, output) == (0, CARD.decode()), errors
    assert await asyncio.wait_for(peripheral.process.wait(), TIMEOUT) == 0


async def test_an_adapter_that_is_down_costs_the_radio_nothing(ours: OurRadio) -> None:
    # The controllers continue advertising and scanning when the kernel takes their adapters down, and their reports are
    # then refused.
    near, far = ours.adapters
    for name in (near, far):
        status, _, errors = await output_of("hciconfig", name, "up")
        assert status == 0, errors
    await output_of("hciconfig", near, "leadv", "0")
    scan = await Process.start("lescan", "timeout", "-s", "KILL", "3", "hcitool", "-i", far, "lescan", "--duplicates")
    await asyncio.sleep(1)
    await output_of("hciconfig", far, "down")
    await scan.process.wait()
    await asyncio.sleep(1)
    assert ours.process.is_running
    status, _, errors = await output_of("hciconfig", far, "up")
    assert (status, errors) == (0, "")


async def test_ending_the_radio_unplugs_its_adapters(ours: OurRadio) -> None:
    near = ours.adapters[0].removeprefix("hci")
    peripheral = await Process.start("unplugged", BINARIES / "peripheral", "--transport", f"hci-socket:{near}")
    await until(lambda: "advertising" in peripheral.said(), "our peripheral to advertise")
    await ours.stop()
    await until(lambda: f"hci{near} is gone" in peripheral.said(), "our peripheral to notice")
    assert "waiting for it" in peripheral.said()
    assert peripheral.is_running
    await peripheral.stop()
