"""The founding use, with our programs as people start them."""

from __future__ import annotations

import pathlib

from support import client
from support.bluez import BlueZ
from support.card import CARD, CHARACTERISTIC, SERVICE
from support.processes import BINARIES, Process, output_of, until


async def test_bluez_gets_the_card_from_our_peripheral(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    payload = tmp_path / "card"
    payload.write_bytes(CARD)
    peripheral = await Process.start(
        "peripheral", BINARIES / "peripheral", "--transport", "hci-socket:0", "--name", "BCS", "--payload", payload,
        "--once")
    await until(lambda: "advertising" in peripheral.said(), "our peripheral to advertise")
    device = await client.found(SERVICE, "BCS")
    async with client.connected(device) as connection:
        assert await client.card(connection, CHARACTERISTIC) == CARD
    assert await peripheral.process.wait() == 0
