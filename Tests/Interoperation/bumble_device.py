"""A device on the Bumble host with its own database, or a client that reads a whole database.

`serve` advertises, and notifies its battery level to subscribers; `read` prints every attribute of a peer in JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator

from agreed import ADVERTISEMENT, DEVICE_ADDRESS as ADDRESS, DEVICE_NAME as NAME, LEVELS, SCAN_RESPONSE
from bumble.att import ATT_Error
from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, DeviceConfiguration, Peer
from bumble.gatt import Characteristic, Descriptor, Service
from bumble.hci import Address
from bumble.transport import open_transport

VENDOR = "12345678-0000-1000-8000-AABBCCDDEEFF"
VENDOR_VALUE = "12345679-0000-1000-8000-AABBCCDDEEFF"
LONG = bytes(number % 251 for number in range(300))

Property = Characteristic.Properties
Permission = Characteristic.Permissions


def services() -> list[Service]:
    """The contents of `devices.DATABASE`, as Bumble's objects."""
    access = Service(UUID("1800"), [
        Characteristic(UUID("2A00"), Property.READ, Permission.READABLE, NAME.encode())])
    battery = Service(UUID("180F"), [
        Characteristic(UUID("2A19"), Property.READ | Property.NOTIFY, Permission.READABLE, bytes([100]))], primary=False)
    vendor = Service(UUID(VENDOR), [
        Characteristic(
            UUID(VENDOR_VALUE), Property.READ | Property.WRITE, Permission.READABLE | Permission.WRITEABLE, LONG,
            [Descriptor(UUID("2901"), Permission.READABLE, b"\xc3\x28\x1b")]),
        Characteristic(
            UUID("2A6E"), Property.READ, Permission.READABLE | Permission.READ_REQUIRES_AUTHENTICATION, b"\x00\x01"),
    ], included_services=[battery])
    return [access, battery, vendor]


@contextlib.asynccontextmanager
async def open_device(transport: str, address: str) -> AsyncIterator[Device]:
    """A powered device whose database is empty."""
    async with await open_transport(transport) as hci:
        configuration = DeviceConfiguration(
            name="device", address=Address(address), gap_service_enabled=False, gatt_service_enabled=False)
        device = Device.from_config_with_hci(configuration, hci.source, hci.sink)
        await device.power_on()
        yield device


async def serve(transport: str) -> None:
    async with open_device(transport, ADDRESS) as device:
        all_services = services()
        device.add_services(all_services)
        level = all_services[1].characteristics[0]
        tasks: set[asyncio.Task[None]] = set()

        async def notify(connection: Connection) -> None:
            for number in LEVELS:
                await asyncio.sleep(0.1)
                await device.notify_subscriber(connection, level, bytes([number]))

        def subscribed(connection: Connection, notifies: bool, _indicates: bool) -> None:
            if notifies:
                tasks.add(asyncio.create_task(notify(connection)))

        level.on(Characteristic.EVENT_SUBSCRIPTION, subscribed)
        await device.start_advertising(
            advertising_data=ADVERTISEMENT, scan_response_data=SCAN_RESPONSE, auto_restart=True,
            advertising_interval_min=50, advertising_interval_max=50)
        await asyncio.get_running_loop().create_future()


async def read(transport: str, address: str) -> None:
    async with open_device(transport, "E0:E1:E2:E3:E4:E5") as device:
        connection = await device.connect(Address(address), timeout=20)
        peer = Peer(connection)
        groups = [
            [service.handle, service.end_group_handle, service.uuid.to_hex_str().upper()]
            for service in await peer.discover_services()]
        attributes: list[list[object]] = []
        for attribute in await peer.discover_attributes():
            try:
                value = (await peer.gatt_client.read_value(attribute.handle)).hex().upper()
            except (ATT_Error, ProtocolError) as error:
                value = f"error {error.error_code:02X}"
            attributes.append([attribute.handle, attribute.type.to_hex_str().upper(), value])
        print(json.dumps({"services": groups, "attributes": attributes}))
        await connection.disconnect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport")
    parser.add_argument("--read", metavar="ADDRESS", help="read the database of this device")
    arguments = parser.parse_args()
    asyncio.run(read(arguments.transport, arguments.read) if arguments.read else serve(arguments.transport))


if __name__ == "__main__":
    sys.exit(main())
