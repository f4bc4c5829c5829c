"""The original use case, with our programs as users start them."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import re
import signal
from collections.abc import AsyncIterator

import pytest_asyncio
from bleak.backends.characteristic import BleakGATTCharacteristic
from support import client
from support.bluez import BlueZ
from support.card import CARD, CHARACTERISTIC, SERVICE
from support.processes import BINARIES, TIMEOUT, Process, output_of, until
from support.radio import OurRadio


@contextlib.asynccontextmanager
async def offering(
    directory: pathlib.Path, card: bytes, *options: str, adapter: str = "hci0"
) -> AsyncIterator[Process]:
    """Our peripheral, offering a card."""
    payload = directory / "card"
    payload.write_bytes(card)
    peripheral = await Process.start(
        "peripheral", BINARIES / "peripheral", "--transport", f"hci-socket:{adapter.removeprefix('hci')}", "--name",
        "BCS", "--payload", payload, *options)
    try:
        yield peripheral
    finally:
        await peripheral.stop()


async def test_bluez_gets_the_card_from_our_peripheral(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    async with offering(tmp_path, CARD, "--once") as peripheral:
        device = await client.found(SERVICE, "BCS")
        async with client.connected(device) as connection:
            assert await client.card(connection, CHARACTERISTIC) == CARD
        assert await asyncio.wait_for(peripheral.process.wait(), TIMEOUT) == 0


async def test_bluez_leaves_in_the_midst_of_the_card_twice_and_then_gets_it(
    bluez: BlueZ, tmp_path: pathlib.Path
) -> None:
    card = CARD * 200
    async with offering(tmp_path, card) as peripheral:
        before = peripheral.said().count("was interrupted")
        device = await client.found(SERVICE, "BCS")
        for count in (1, 2):
            received: list[bytes] = []

            def take(_: BleakGATTCharacteristic, value: bytearray) -> None:
                if not received:
                    # So that it does not send the whole card before the link ends.
                    peripheral.process.send_signal(signal.SIGSTOP)
                received.append(bytes(value))

            async with client.connected(device) as connection:
                _, links, _ = await output_of("hcitool", "-i", "hci1", "con")
                handle = re.findall(r"handle (\d+)", links)[0]
                try:
                    await connection.start_notify(CHARACTERISTIC, take)
                    await until(lambda: received, "the beginning of the card")
                    # The daemon would wait two seconds before it disconnects, so the link is taken from it.
                    await output_of("hcitool", "-i", "hci1", "ledc", handle)
                    await until(lambda: not connection.is_connected, "the end of the link")
                finally:
                    peripheral.process.send_signal(signal.SIGCONT)
            assert b"EOM" not in received and card.startswith(b"".join(received))
            await until(lambda: peripheral.said().count("was interrupted") == before + count, "the peripheral to notice")
        async with client.connected(device) as connection:
            assert await client.card(connection, CHARACTERISTIC) == card


@pytest_asyncio.fixture
async def three(daemon: BlueZ) -> AsyncIterator[list[str]]:
    """Three adapters in range of each other. Of BlueZ's emulator, 5.66 mixes up the handles of two links to one
    controller: this is our radio.
    """
    radio = await OurRadio.start(3)
    for name in radio.adapters:
        await daemon.adapter(name)
    yield radio.adapters
    await radio.stop()


async def test_two_centrals_get_their_cards_at_once(three: list[str], tmp_path: pathlib.Path) -> None:
    card = CARD * 10
    near, *far = three
    async with offering(tmp_path, card, adapter=near), contextlib.AsyncExitStack() as links:
        devices = [await client.found(SERVICE, "BCS", adapter=name) for name in far]
        connections = [
            await links.enter_async_context(client.connected(device, adapter=name))
            for device, name in zip(devices, far, strict=True)]
        cards = await asyncio.gather(*(client.card(connection, CHARACTERISTIC) for connection in connections))
    assert cards == [card, card]
