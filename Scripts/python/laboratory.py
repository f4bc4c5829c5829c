"""Two Bumble hosts, a controller for each, and what every scenario does with them."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import pathlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import fixture_database as database
from bumble import hci
from bumble.controller import Controller
from bumble.core import AdvertisingData
from bumble.crypto import EccKey
from bumble.device import Connection, Device, DeviceConfiguration, Peer
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport import open_transport
from bumble.transport.common import AsyncPipeSink
from recording import Capture

# Static random addresses, which every controller can serve.
CENTRAL_ADDRESS = Address("C0:DE:00:00:00:0C")
PERIPHERAL_ADDRESS = Address("C0:DE:00:00:00:0F")
NAME = "Fixture"

# The private keys of the sample data in Core 5.4, Vol 2, Part G, 7.1.2, sets 1 (A and B), for Secure Connections.
CENTRAL_KEY = bytes.fromhex("3F49F6D4A3C55F3874C9B3E3D2103F504AFF607BEB40B7995899B8A6CD3C1ABD")
PERIPHERAL_KEY = bytes.fromhex("55188B3D32F6BB9A900AFCFBEED4E72A59CB9AC2F19D7CFB6B4FDD49F47FC5FD")
CENTRAL_IRK = bytes(range(0x10, 0x20))
PERIPHERAL_IRK = bytes(range(0x20, 0x30))

ADVERTISING_DATA = bytes(AdvertisingData([
    (AdvertisingData.FLAGS, bytes([0x06])),
    (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(database.EVERYTHING)),
    (AdvertisingData.TX_POWER_LEVEL, bytes([0x00])),
]))
SCAN_RESPONSE_DATA = bytes(AdvertisingData([
    (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode()),
    (AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS, bytes(database.BATTERY)),
    (AdvertisingData.MANUFACTURER_SPECIFIC_DATA, bytes.fromhex("FFFF0102")),
]))


@dataclasses.dataclass
class Laboratory:
    """Two powered hosts within reach of each other, each captured."""

    central: Device
    peripheral: Device

    async def advertise(self) -> None:
        await self.peripheral.start_advertising(
            advertising_data=ADVERTISING_DATA,
            scan_response_data=SCAN_RESPONSE_DATA,
            advertising_interval_min=100,
            advertising_interval_max=100,
        )

    async def connect(self) -> Link:
        """Advertises and connects. Returns when both hosts have reported the connection."""
        with contextlib.closing(Waiter(self.peripheral, Device.EVENT_CONNECTION)) as accepted:
            await self.advertise()
            outgoing = await self.central.connect(PERIPHERAL_ADDRESS)
            incoming = await accepted.value()
        return Link(outgoing, incoming, Peer(outgoing))


@dataclasses.dataclass
class Link:
    """A connection as either host sees it."""

    outgoing: Connection
    incoming: Connection
    peer: Peer

    async def discover_everything(self) -> dict[str, CharacteristicProxy]:
        """Discovers everything, and returns the characteristics by the names of their UUIDs in `fixture_database`."""
        await self.peer.discover_all()
        return {
            name: found[0]
            for name in dir(database)
            if name.isupper() and (found := self.peer.get_characteristics_by_uuid(getattr(database, name)))
        }

    async def end_by_central(self) -> None:
        await end(self.outgoing, self.incoming)

    async def end_by_peripheral(self) -> None:
        await end(self.incoming, self.outgoing)


async def end(ours: Connection, theirs: Connection) -> None:
    """Disconnects, and waits until the other host has also reported it."""
    with contextlib.closing(Waiter(theirs, Connection.EVENT_DISCONNECTION)) as lost:
        await ours.disconnect()
        await lost.value()


class Waiter:
    """Waits for the first occurrence of an event after its creation."""

    def __init__(self, emitter: Device | Connection, event: str) -> None:
        self.emitter, self.event = emitter, event
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        emitter.on(event, self.on_event)

    def on_event(self, *values: object) -> None:
        if not self.future.done():
            self.future.set_result(values[0] if values else None)

    async def value(self) -> Any:
        """The first argument of the event, if it has one."""
        return await asyncio.wait_for(self.future, 10)

    def close(self) -> None:
        self.emitter.remove_listener(self.event, self.on_event)


def configuration(name: str, address: Address, irk: bytes) -> DeviceConfiguration:
    return DeviceConfiguration(name=name, address=address, irk=irk, eatt_enabled=True)


def make_laboratory(hosts: tuple[Host, Host], captures: tuple[Capture, Capture]) -> Laboratory:
    """Puts devices on two hosts, captured from their first command on."""
    central = Device(config=configuration("Central", CENTRAL_ADDRESS, CENTRAL_IRK), host=hosts[0])
    peripheral = Device(config=configuration(NAME, PERIPHERAL_ADDRESS, PERIPHERAL_IRK), host=hosts[1])
    for device, capture, key in zip((central, peripheral), captures, (CENTRAL_KEY, PERIPHERAL_KEY), strict=True):
        device.host.snooper = capture
        device.smp_manager._ecc_key = EccKey.from_private_key_bytes(key)
    peripheral.add_services(database.services())
    return Laboratory(central, peripheral)


Opener = Callable[[tuple[Capture, Capture]], contextlib.AbstractAsyncContextManager[Laboratory]]


@contextlib.asynccontextmanager
async def on_bumble_controllers(captures: tuple[Capture, Capture], extended: bool) -> AsyncIterator[Laboratory]:
    """On Bumble's controllers, in this process; with the features of Core 5.0, or as a controller of Core 4.2."""
    link = LocalLink()
    controllers = [
        Controller("central", link=link, public_address="C0:FF:EE:00:00:0C"),
        Controller("peripheral", link=link, public_address="C0:FF:EE:00:00:0F"),
    ]
    if not extended:
        for controller in controllers:
            controller.hci_version = controller.lmp_version = hci.HCI_VERSION_BLUETOOTH_CORE_4_2
            controller.le_features = (
                hci.LeFeatureMask.LE_ENCRYPTION
                | hci.LeFeatureMask.CONNECTION_PARAMETERS_REQUEST_PROCEDURE
                | hci.LeFeatureMask.LE_DATA_PACKET_LENGTH_EXTENSION
            )
    hosts = [Host(controller, AsyncPipeSink(controller)) for controller in controllers]
    laboratory = make_laboratory((hosts[0], hosts[1]), captures)
    await laboratory.central.power_on()
    await laboratory.peripheral.power_on()
    yield laboratory


@contextlib.asynccontextmanager
async def on_transports(captures: tuple[Capture, Capture], transports: tuple[str, str]) -> AsyncIterator[Laboratory]:
    """On controllers behind transports."""
    async with await open_transport(transports[0]) as first, await open_transport(transports[1]) as second:
        hosts = (Host(first.source, first.sink), Host(second.source, second.sink))
        laboratory = make_laboratory(hosts, captures)
        await laboratory.central.power_on()
        await laboratory.peripheral.power_on()
        yield laboratory


def capture_paths(directory: pathlib.Path, scenario: str) -> tuple[pathlib.Path, pathlib.Path]:
    """The paths of the captures of the central's and the peripheral's host."""
    return directory / f"{scenario}-central.btsnoop", directory / f"{scenario}-peripheral.btsnoop"
