"""Extended advertising between BlueZ and our programs, over controllers of `ble radio --extended` in the kernel.

Our radio serves both sides, for btvirt's controllers have no LE 2M and no data beyond one packet. Data stays within
31 octets: kernels before 6.5 drop longer reports.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator

import pytest_asyncio
from bleak import BleakScanner
from support.application import advertising
from support.bluez import BlueZ
from support.processes import BINARIES, TIMEOUT, Process, until
from support.radio import OUR_ADDRESSES, OurRadio

BLE = BINARIES / "ble"


@pytest_asyncio.fixture
async def far(bluez: BlueZ) -> AsyncIterator[tuple[str, str]]:
    """Two adapters with extended advertising: one for our programs, and one that BlueZ manages."""
    radio = await OurRadio.start(extended=True)
    await bluez.adapter(radio.adapters[1])
    yield f"hci-socket:{radio.adapters[0].removeprefix('hci')}", radio.adapters[1]
    with contextlib.suppress(TimeoutError):
        await radio.stop()


async def test_bluez_sees_our_extended_set(far: tuple[str, str]) -> None:
    ours, theirs = far
    await Process.start(
        "set", BLE, "advertise", "--transport", ours, "--manufacturer", "FFFF=010203", "--no-connectable",
        "--phy", "2m", "--sid", "5")
    for _ in range(round(TIMEOUT)):
        device = await BleakScanner.find_device_by_filter(
            lambda _device, data: data.manufacturer_data.get(0xFFFF) == b"\x01\x02\x03", timeout=1,
            bluez={"adapter": theirs})
        if device is not None:
            assert device.address == OUR_ADDRESSES[0]
            return
    raise AssertionError("BlueZ has not seen the set")


async def test_we_see_a_set_of_bluez_on_a_secondary_channel(far: tuple[str, str], bluez: BlueZ) -> None:
    ours, theirs = far
    scan = await Process.start("scan", BLE, "scan", "--transport", ours, "--json", "--address", f"{OUR_ADDRESSES[1]}/P")
    async with advertising(bluez, "Far", adapter=theirs, secondary="2M"):
        def seen() -> bool:
            lines = [json.loads(line) for line in scan.lines() if line.startswith("{")]
            return any(line.get("secondaryPHY") == "2M" and line.get("name") == "Far" for line in lines)

        await until(seen, "our scan to see the set", timeout=3 * TIMEOUT)
    await asyncio.wait_for(scan.stop(), TIMEOUT)
