"""Services and advertising by BlueZ on behalf of a program: a GATT application and an advertisement, registered over D-Bus."""

# No `from __future__ import annotations`: dbus-fast reads the annotations, and rejects a None in quotes.

import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Annotated

from dbus_fast import DBusError, PropertyAccess, Variant
from dbus_fast.annotations import DBusBool, DBusBytes, DBusDict, DBusObjectPath, DBusSignature, DBusStr, DBusUInt16
from dbus_fast.service import ServiceInterface, dbus_method, dbus_property
from support.bluez import BlueZ

Strings = Annotated[list[str], DBusSignature("as")]
Paths = Annotated[list[str], DBusSignature("ao")]

# Each application and advertisement has a path of its own.
NUMBERS = itertools.count(1)

# The properties of a characteristic's declaration (Core 5.4, Vol 3, Part G, 3.3.1.1) for BlueZ's flags.
PROPERTIES = {
    "read": 0x02, "encrypt-read": 0x02, "encrypt-authenticated-read": 0x02, "write-without-response": 0x04, "write": 0x08,
    "notify": 0x10, "indicate": 0x20}


class Attribute(ServiceInterface):
    """An object of an application. BlueZ sets `handle` when it has registered it."""

    def __init__(self, interface: str, uuid: str) -> None:
        super().__init__(interface)
        self.uuid = uuid
        self.path = ""
        self.parent = ""
        self.handle = 0

    @dbus_property(PropertyAccess.READ)
    def UUID(self) -> DBusStr:
        return self.uuid

    @dbus_property()
    def Handle(self) -> DBusUInt16:
        return self.handle

    @Handle.setter
    def Handle(self, handle: DBusUInt16) -> None:
        self.handle = handle


class ValuedAttribute(Attribute):
    """An attribute with a value, which may be read and written in parts.

    `written` collects the value of each write. While `refusal` is set, each access is answered with that error of
    BlueZ: a name and a text.
    """

    def __init__(self, interface: str, uuid: str, flags: tuple[str, ...], value: bytes) -> None:
        super().__init__(interface, uuid)
        self.flags = flags
        self.value = value
        self.written: list[bytes] = []
        self.refusal: tuple[str, str] | None = None

    @dbus_property(PropertyAccess.READ)
    def Flags(self) -> Strings:
        return list(self.flags)

    @dbus_method()
    def ReadValue(self, options: DBusDict) -> DBusBytes:
        return self.value[self._offset(options):]

    @dbus_method()
    def WriteValue(self, value: DBusBytes, options: DBusDict) -> None:
        self.value = self.value[:self._offset(options)] + bytes(value)
        self.written.append(bytes(value))

    def _offset(self, options: dict[str, Variant]) -> int:
        if self.refusal is not None:
            name, text = self.refusal
            raise DBusError(f"org.bluez.Error.{name}", text)
        offset = options["offset"].value if "offset" in options else 0
        if offset > len(self.value):
            raise DBusError("org.bluez.Error.InvalidOffset", f"there are {len(self.value)} octets")
        return offset


class Descriptor(ValuedAttribute):
    def __init__(self, uuid: str, value: bytes, *flags: str) -> None:
        super().__init__("org.bluez.GattDescriptor1", uuid, flags or ("read",), value)

    @dbus_property(PropertyAccess.READ)
    def Characteristic(self) -> DBusObjectPath:
        return self.parent


class Characteristic(ValuedAttribute):
    """A characteristic. If it can notify or indicate, BlueZ adds the descriptor for that."""

    def __init__(self, uuid: str, *flags: str, value: bytes = b"", descriptors: list[Descriptor] | None = None) -> None:
        super().__init__("org.bluez.GattCharacteristic1", uuid, flags, value)
        self.descriptors = descriptors or []
        self.is_notifying = False
        self.confirmations = 0

    @property
    def properties(self) -> int:
        return sum(PROPERTIES[flag] for flag in self.flags if flag in PROPERTIES)

    @dbus_property(PropertyAccess.READ)
    def Service(self) -> DBusObjectPath:
        return self.parent

    # BlueZ sends a value when this property changes.
    @dbus_property(PropertyAccess.READ)
    def Value(self) -> DBusBytes:
        return self.value

    @dbus_method()
    def StartNotify(self) -> None:
        self.is_notifying = True

    @dbus_method()
    def StopNotify(self) -> None:
        self.is_notifying = False

    @dbus_method()
    def Confirm(self) -> None:
        self.confirmations += 1

    async def send(self, bluez: BlueZ, *values: bytes) -> None:
        """Notifies or indicates values to all subscribers."""
        for number, value in enumerate(values, 1):
            self.emit_properties_changed({"Value": value})
            # dbus-fast does not wait for a slow bus: it treats a full socket as a broken one.
            if number % 32 == 0:
                await bluez.call("/org/bluez", "org.freedesktop.DBus.Peer.Ping")


class Service(Attribute):
    def __init__(self, uuid: str, *characteristics: Characteristic, is_primary: bool = True) -> None:
        super().__init__("org.bluez.GattService1", uuid)
        self.characteristics = characteristics
        self.is_primary = is_primary

    @dbus_property(PropertyAccess.READ)
    def Primary(self) -> DBusBool:
        return self.is_primary


class Advertisement(ServiceInterface):
    def __init__(self, name: str, services: list[str]) -> None:
        super().__init__("org.bluez.LEAdvertisement1")
        self.local_name = name
        self.services = services

    @dbus_method()
    def Release(self) -> None:
        pass

    @dbus_property(PropertyAccess.READ)
    def Type(self) -> DBusStr:
        return "peripheral"

    @dbus_property(PropertyAccess.READ)
    def LocalName(self) -> DBusStr:
        return self.local_name

    @dbus_property(PropertyAccess.READ)
    def ServiceUUIDs(self) -> Strings:
        return self.services


class ExtendedAdvertisement(Advertisement):
    """An advertisement that requires an adapter with extended advertising."""

    def __init__(self, name: str, services: list[str], secondary: str) -> None:
        super().__init__(name, services)
        self.secondary = secondary

    @dbus_property(PropertyAccess.READ)
    def SecondaryChannel(self) -> DBusStr:
        return self.secondary


@contextlib.asynccontextmanager
async def serving(bluez: BlueZ, *services: Service, adapter: str = "hci1") -> AsyncIterator[None]:
    """Makes BlueZ serve an application; afterwards all its attributes have their handles."""
    root = f"/application{next(NUMBERS)}"
    attributes: list[Attribute] = []
    for service in services:
        _place(service, f"{root}/service{len(attributes)}", "", attributes)
        for characteristic in service.characteristics:
            _place(characteristic, f"{service.path}/characteristic{len(attributes)}", service.path, attributes)
            for descriptor in characteristic.descriptors:
                path = f"{characteristic.path}/descriptor{len(attributes)}"
                _place(descriptor, path, characteristic.path, attributes)
    for attribute in attributes:
        bluez.bus.export(attribute.path, attribute)
    path = f"/org/bluez/{adapter}"
    await bluez.call(path, "org.bluez.GattManager1.RegisterApplication", "oa{sv}", root, {})
    try:
        # BlueZ sets the handles with calls that arrive before its answer.
        assert all(attribute.handle for attribute in attributes)
        yield
    finally:
        # A daemon that was started anew does not know it.
        with contextlib.suppress(RuntimeError):
            await bluez.call(path, "org.bluez.GattManager1.UnregisterApplication", "o", root)
        for attribute in attributes:
            bluez.bus.unexport(attribute.path, attribute)


def _place(attribute: Attribute, path: str, parent: str, attributes: list[Attribute]) -> None:
    attribute.path = path
    attribute.parent = parent
    attribute.handle = 0
    attributes.append(attribute)


@contextlib.asynccontextmanager
async def advertising(
    bluez: BlueZ, name: str, *services: str, adapter: str = "hci1", secondary: str | None = None
) -> AsyncIterator[None]:
    """Makes BlueZ advertise, with extended PDUs if a secondary PHY is given: 1M, 2M or Coded."""
    advertisement = (
        Advertisement(name, list(services)) if secondary is None
        else ExtendedAdvertisement(name, list(services), secondary))
    path = f"/advertisement{next(NUMBERS)}"
    bluez.bus.export(path, advertisement)
    manager = f"/org/bluez/{adapter}"
    await bluez.call(manager, "org.bluez.LEAdvertisingManager1.RegisterAdvertisement", "oa{sv}", path, {})
    try:
        yield
    finally:
        with contextlib.suppress(RuntimeError):
            await bluez.call(manager, "org.bluez.LEAdvertisingManager1.UnregisterAdvertisement", "o", path)
        bluez.bus.unexport(path, advertisement)
