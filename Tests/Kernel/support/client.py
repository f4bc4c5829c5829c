"""BlueZ as a central, driven by bleak as people do."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from support.processes import PATIENCE

ADAPTER = "hci1"


async def found(service: str, name: str | None = None, adapter: str = ADAPTER) -> BLEDevice:
    """A device that advertises a service, and a name."""
    device = await BleakScanner.find_device_by_filter(
        lambda device, data: service in data.service_uuids and (name is None or data.local_name == name),
        timeout=PATIENCE, bluez={"adapter": adapter})
    assert device is not None, f"nobody advertises {service}"
    return device


@contextlib.asynccontextmanager
async def connected(device: BLEDevice, adapter: str = ADAPTER) -> AsyncIterator[BleakClient]:
    """A connection to a device, its services discovered."""
    async with BleakClient(device, timeout=2 * PATIENCE, bluez={"adapter": adapter}) as client:
        yield client


async def card(client: BleakClient, characteristic: str) -> bytes:
    """What comes by notifications until one is `EOM`."""
    received = bytearray()
    done = asyncio.Event()

    def take(_: object, value: bytearray) -> None:
        if value == b"EOM":
            done.set()
        else:
            received.extend(value)

    await client.start_notify(characteristic, take)
    await asyncio.wait_for(done.wait(), PATIENCE)
    await client.stop_notify(characteristic)
    return bytes(received)
