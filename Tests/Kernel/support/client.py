"""BlueZ as a central, driven by bleak as in applications."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from bleak.exc import BleakError
from support.processes import TIMEOUT

ADAPTER = "hci1"


async def found(service: str, name: str | None = None, adapter: str = ADAPTER) -> BLEDevice:
    """A device that advertises a service, and a name.

    The emulator reports an advertiser once for each start of a scan, and the daemon ignores reports until it knows that
    its scan has started: so scans are short, and there are several.
    """
    for _ in range(round(TIMEOUT)):
        device = await BleakScanner.find_device_by_filter(
            lambda device, data: service in data.service_uuids and (name is None or data.local_name == name),
            timeout=1, bluez={"adapter": adapter})
        if device is not None:
            return device
    raise AssertionError(f"no device advertises {service}")


@contextlib.asynccontextmanager
async def connected(device: BLEDevice, adapter: str = ADAPTER) -> AsyncIterator[BleakClient]:
    """A connection to a device, its services discovered.

    If the daemon learns of the link from its own socket before the kernel's event, it treats that event as a second
    connection, and drops the first. Like applications, this tries again.
    """
    for attempt in range(4):
        client = BleakClient(device, timeout=2 * TIMEOUT, bluez={"adapter": adapter})
        try:
            await client.connect()
            break
        except BleakError as error:
            if attempt == 3 or "disconnected" not in str(error):
                raise
    try:
        yield client
    finally:
        await client.disconnect()


async def card(client: BleakClient, characteristic: str) -> bytes:
    """The values of notifications until one is `EOM`."""
    received = bytearray()
    done = asyncio.Event()

    def take(_: object, value: bytearray) -> None:
        if value == b"EOM":
            done.set()
        else:
            received.extend(value)

    await client.start_notify(characteristic, take)
    await asyncio.wait_for(done.wait(), 3 * TIMEOUT)
    await client.stop_notify(characteristic)
    return bytes(received)
