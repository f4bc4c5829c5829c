"""Our library as a peripheral with a characteristic for each client procedure, and BlueZ's links to it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from bleak import BleakClient, BleakScanner
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from bleak.exc import BleakError
from dbus_fast import Variant
from support import client
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.processes import TIMEOUT, output_of, until
from support.radio import ADDRESSES

NAME = "Kernel"
UUID = "{:08x}-7d1f-4b8e-9f0a-2c6d3e5b4a79"
BATTERY = "180F"
LENGTHS = [0, 1, 22, 23, 100, 509, 512]

# The properties of a characteristic's declaration (Core 5.4, Vol 3, Part G, 3.3.1.1), in BlueZ's names.
PROPERTIES = {
    "broadcast": 0x01, "read": 0x02, "write-without-response": 0x04, "write": 0x08, "notify": 0x10, "indicate": 0x20,
    "authenticated-signed-writes": 0x40, "extended-properties": 0x80}

# The services of our library before it publishes any: handle, type, and for a characteristic its properties.
OWN_ATTRIBUTES = [
    (1, "2800", None), (2, "2803", 0x02), (3, "2A00", None), (4, "2803", 0x02), (5, "2A01", None),
    (6, "2800", None), (7, "2803", 0x20), (8, "2A05", None), (9, "2902", None), (10, "2803", 0x0A), (11, "2B29", None),
    (12, "2803", 0x02), (13, "2B2A", None), (14, "2803", 0x02), (15, "2B3A", None)]


def octets(length: int) -> bytes:
    """A value in which missing or misplaced parts can be located."""
    return bytes((index * 7 + index // 256) % 256 for index in range(length))


def full(uuid: str) -> str:
    """A UUID with all of its 128 bits, as BlueZ writes it."""
    return (f"0000{uuid}-0000-1000-8000-00805f9b34fb" if len(uuid) == 4 else uuid).lower()


def characteristic(uuid: str | int, *properties: str, value: bytes = b"", **rest: Any) -> dict[str, Any]:
    return {
        "uuid": UUID.format(uuid) if isinstance(uuid, int) else uuid,
        "properties": sum(PROPERTIES[name] for name in properties), "value": value.hex(), **rest}


# The attributes served, by the names used in the cases; the numbers are those of the UUIDs.
CHARACTERISTICS = {
    "information": {
        "maker": characteristic("2A29", "read", value=b"Babbage & Company"),
        "model": characteristic("2A24", "read", value=b"Analytical"),
    },
    "battery": {
        "level": characteristic("2A19", "read", "notify", value=b"\x57", descriptors=[
            {"uuid": "2901", "value": b"Left in the battery".hex()}, {"uuid": "2904", "value": "0400ad27010000"}]),
    },
    "values": {
        **{f"value {length}": characteristic(0x1000 + length, "read", "write", value=octets(length))
           for length in LENGTHS},
        "read only": characteristic(1, "read", value=b"fixed"),
        "write only": characteristic(2, "write", isDynamic=True),
        "dynamic": characteristic(3, "read", "write", value=octets(512), isDynamic=True),
        "commanded": characteristic(4, "write-without-response", isDynamic=True),
        "reliable": characteristic(5, "read", "write", "extended-properties", extendedProperties=1),
        "refused": characteristic(6, "read", "write", isDynamic=True, refusal=0x80),
        "encrypted": characteristic(7, "read", value=b"a secret", needsEncryption=True),
        "authenticated": characteristic(14, "read", value=b"a better kept secret", needsAuthentication=True),
        "described": characteristic(8, "read", value=b"\0", descriptors=[
            {"uuid": "2901", "value": b"Cannot be written".hex()},
            {"uuid": UUID.format(9), "value": octets(30).hex(), "isWritable": True}]),
    },
    "events": {
        "notifying": characteristic(10, "notify", isDynamic=True),
        "notifying too": characteristic(11, "notify", isDynamic=True),
        "indicating": characteristic(12, "indicate", isDynamic=True),
        "both": characteristic(13, "notify", "indicate", isDynamic=True),
    },
}
SERVICES = {"information": "180A", "battery": BATTERY, "values": UUID.format(0x100), "events": UUID.format(0x101)}


class Peripheral:
    """Our library on hci0. `services` has what it has published, with the handles."""

    def __init__(self, agent: Agent, bluez: BlueZ) -> None:
        self.agent = agent
        self.bluez = bluez
        self.services: list[dict[str, Any]] = []
        self.characteristics: dict[str, dict[str, Any]] = {}
        self.device: BLEDevice | None = None

    @classmethod
    @contextlib.asynccontextmanager
    async def started(cls, bluez: BlueZ, mtu: int | None = None) -> AsyncIterator[Peripheral]:
        """Publishes, advertises, and makes BlueZ on hci1 find it."""
        # No data about another peripheral with this address.
        await bluez.renewed("hci1")
        agent = await Agent.start("peripheral")
        peripheral = cls(agent, bluez)
        try:
            await agent("open", transport="hci-socket:0", name=NAME, mtu=mtu)
            for name, uuid in SERVICES.items():
                # The first is a secondary service, found through the last.
                includes = [peripheral.services[0]["handle"]] if name == "events" else []
                await peripheral.publish(
                    uuid, CHARACTERISTICS[name], isPrimary=name != "information", includes=includes)
            peripheral.device = await peripheral.sighted()
            yield peripheral
        finally:
            # btvirt does not report the links of a controller that is reset, and bluetoothd connects to a bonded device
            # whenever that advertises.
            with contextlib.suppress(AgentError, TimeoutError):
                await agent("stopAdvertising")
                await peripheral.alone()
            await agent.stop()

    async def publish(self, uuid: str, characteristics: dict[str, dict[str, Any]], **rest: Any) -> dict[str, Any]:
        """Publishes a service, and returns it with its handles."""
        service = {"uuid": uuid, "characteristics": list(characteristics.values()), **rest}
        published: dict[str, Any] = (await self.agent("publish", service=service))["service"]
        for name, one in zip(characteristics, published["characteristics"], strict=True):
            self.characteristics[name] = {**one, "service": published["handle"]}
        self.services.append(published)
        return published

    async def withdraw(self, service: dict[str, Any]) -> None:
        await self.agent("withdraw", handle=service["handle"])
        self.services.remove(service)
        self.characteristics = {
            name: one for name, one in self.characteristics.items() if one["service"] != service["handle"]}

    async def sighted(self) -> BLEDevice:
        """Starts advertising when BlueZ listens, and returns the device it finds.

        btvirt reports an advertiser once when it starts, and once when a scan starts; bluetoothd ignores a
        report that arrives before the kernel's event that the scan has started, and scans again after five seconds.
        """
        await self.agent("stopAdvertising")
        seen: asyncio.Future[BLEDevice] = asyncio.get_running_loop().create_future()

        def look(device: BLEDevice, data: AdvertisementData) -> None:
            if data.local_name == NAME and full(BATTERY) in data.service_uuids and not seen.done():
                seen.set_result(device)

        async with BleakScanner(look, bluez={"adapter": client.ADAPTER}):
            await self.advertise()
            return await asyncio.wait_for(seen, TIMEOUT)

    async def advertise(self, name: str = NAME, **rest: Any) -> None:
        await self.agent("advertise", name=name, services=[BATTERY], **rest)

    @property
    def path(self) -> str:
        """BlueZ's path of the peripheral."""
        return f"/org/bluez/{client.ADAPTER}/dev_{ADDRESSES[0].replace(':', '_')}"

    def handle(self, name: str) -> int:
        """The handle of a value."""
        return self.characteristics[name]["handle"]

    async def value(self, name: str) -> bytes:
        return bytes.fromhex((await self.agent("value", handle=self.handle(name)))["value"])

    @property
    def attributes(self) -> list[tuple[int, str, int | None]]:
        """Every attribute: its handle, its type and, if it declares a characteristic, its properties."""
        rows: list[tuple[int, str, int | None]] = list(OWN_ATTRIBUTES)
        for service in sorted(self.services, key=lambda service: service["handle"]):
            rows.append((service["handle"], "2800" if service.get("isPrimary", True) else "2801", None))
            rows += [(service["handle"] + 1 + index, "2802", None) for index in range(len(service.get("includes", [])))]
            for one in service["characteristics"]:
                rows.append((one["declaration"], "2803", one["properties"]))
                rows.append((one["handle"], one["uuid"], None))
                rows += sorted((handle, uuid, None) for handle, uuid in descriptors(one))
        return [(handle, full(uuid), properties) for handle, uuid, properties in rows]

    @contextlib.asynccontextmanager
    async def connected(self) -> AsyncIterator[Link]:
        """A link from BlueZ to the peripheral, its services discovered. A case may end it early."""
        connection = await self.connect()
        try:
            await until(self.agent.connected, "our end of the link")
            yield Link(self, connection, self.agent.connected()[-1])
        finally:
            # BlueZ would wait two seconds before it disconnects.
            await self.alone()
            await connection.disconnect()

    async def connect(self, attempts: int = 4) -> BleakClient:
        """Makes BlueZ connect.

        If bluetoothd learns of the link from its own socket before the kernel's event, it treats it as two links and
        ends one, two seconds later, and removes the device. So each attempt starts from scratch.
        """
        await self.alone()
        if self.device is None or self.path not in await self.bluez.objects():
            self.device = await self.sighted()
        connection = BleakClient(self.device, timeout=TIMEOUT, bluez={"adapter": client.ADAPTER})
        try:
            await connection.connect()
        except BleakError:
            if attempts == 1:
                raise
            return await self.connect(attempts - 1)
        return connection

    async def alone(self) -> None:
        """Ends every link, such as one left behind by a failed case, and discards its events."""
        async with asyncio.timeout(TIMEOUT):
            # bluetoothd may have connected again meanwhile.
            while (numbers := self.agent.connected()) or await self._is_in_use():
                for number in numbers:
                    # Unless it ended by itself.
                    with contextlib.suppress(AgentError):
                        await self.agent("disconnect", connection=number)
                await asyncio.sleep(0.02)
        self.agent.events.clear()

    async def _is_in_use(self) -> bool:
        """Whether bluetoothd uses a link: it continues to until it has noticed the end."""
        device = (await self.bluez.objects()).get(self.path, {}).get("org.bluez.Device1", {})
        return bool(device.get("Connected"))

    async def gatttool(self, *arguments: str) -> tuple[int, list[str], str]:
        """Makes gatttool connect and run commands. Returns its status, and the lines it wrote to output and error."""
        await self.alone()
        status, output, errors = await output_of("gatttool", "-i", client.ADAPTER, "-b", ADDRESSES[0], *arguments)
        # The kernel keeps the link for two seconds, and a connection made then is about to end.
        await self.alone()
        return status, output.splitlines(), errors.strip()


def descriptors(one: dict[str, Any]) -> list[tuple[int, str]]:
    """The descriptors of a published characteristic: handles and types."""
    found = [(descriptor["handle"], descriptor["uuid"]) for descriptor in one.get("descriptors", [])]
    if "configuration" in one:
        found.append((one["configuration"], "2902"))
    if "extendedProperties" in one:
        # After the value and its configuration.
        found.append((one.get("configuration", one["handle"]) + 1, "2900"))
    return sorted(found)


class Link:
    """A link, seen from both ends: BlueZ's is `client`, ours is known by its number."""

    def __init__(self, peripheral: Peripheral, connection: BleakClient, number: int) -> None:
        self.peripheral = peripheral
        self.client = connection
        self.number = number

    async def __call__(self, call: str, **arguments: Any) -> dict[str, Any]:
        """Makes our end perform a call."""
        return await self.peripheral.agent(call, connection=self.number, **arguments)

    async def ended(self) -> str:
        """Waits until our end reports the disconnection, and returns the reason."""
        return (await self.peripheral.agent("waitForDisconnection", connection=self.number))["reason"]

    async def event(self, event: str, name: str) -> dict[str, Any]:
        """The next event of one of our characteristics on this link."""
        return await self.peripheral.agent.event(
            event, connection=self.number, handle=self.peripheral.handle(name))

    def at(self, name: str) -> int:
        """bleak's identifier of a characteristic: with BlueZ, the handle of its declaration."""
        return self.peripheral.characteristics[name]["declaration"]

    def path(self, name: str) -> str:
        """BlueZ's path of a characteristic."""
        one = self.peripheral.characteristics[name]
        return f"{self.peripheral.path}/service{one['service']:04x}/char{one['declaration']:04x}"

    async def read(self, name: str) -> bytes:
        return bytes(await self.client.read_gatt_char(self.at(name)))

    async def read_from(self, name: str, offset: int) -> bytes:
        """Reads from an offset."""
        value = await self.peripheral.bluez.call(
            self.path(name), "org.bluez.GattCharacteristic1.ReadValue", "a{sv}", {"offset": Variant("q", offset)})
        # BlueZ may answer with no value in place of an empty one.
        return bytes(value or b"")

    async def write(self, name: str, value: bytes, how: str | None = None, offset: int = 0) -> None:
        """Writes as bleak does, or with a `request` or a `reliable` write, from an offset."""
        if how is None:
            return await self.client.write_gatt_char(self.at(name), value, response=True)
        await self.peripheral.bluez.call(
            self.path(name), "org.bluez.GattCharacteristic1.WriteValue", "aya{sv}", value,
            {"type": Variant("s", how), "offset": Variant("q", offset)})

    async def subscribe(self, name: str, **rest: Any) -> list[bytes]:
        """Subscribes, and returns the list in which the values are collected."""
        values: list[bytes] = []
        await self.client.start_notify(self.at(name), lambda _, value: values.append(bytes(value)), **rest)
        await self.event("subscribed", name)
        return values
