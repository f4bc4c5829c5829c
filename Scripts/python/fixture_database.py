"""The GATT database that the peripheral of every recording serves: one of each kind of attribute."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from bumble.att import ATT_Error, Attribute, ErrorCode
from bumble.core import UUID
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service

DEVICE_INFORMATION = UUID(0x180A)
MANUFACTURER_NAME = UUID(0x2A29)
MODEL_NUMBER = UUID(0x2A24)
BATTERY = UUID(0x180F)
BATTERY_LEVEL = UUID(0x2A19)


def vendor(number: int) -> UUID:
    """Our own 128-bit UUIDs, which differ in the first four bytes, as those of one vendor usually do."""
    return UUID(f"{number:08X}-4C1B-4E54-9E9C-5F0C2B7A1D3E")


EVERYTHING = vendor(1)
LONG_VALUE = vendor(2)
WRITE_ONLY = vendor(3)
NOTIFYING = vendor(4)
INDICATING = vendor(5)
ENCRYPTED = vendor(6)
REFUSING = vendor(7)
SECONDARY = vendor(8)
SECONDARY_VALUE = vendor(9)

# Longer than the largest ATT_MTU in use, and without repetitions.
LONG_BYTES = bytes((index * 7 + index // 256) % 256 for index in range(300))
APPLICATION_ERROR = 0x80

Properties = Characteristic.Properties
Permissions = Attribute.Permissions


def refusal(error: int) -> Callable[..., NoReturn]:
    """Responds with an error. Bumble's server does not check read and write permissions."""

    def refuse(*_: object) -> NoReturn:
        raise ATT_Error(error)

    return refuse


def read_only(value: bytes) -> CharacteristicValue:
    return CharacteristicValue(read=lambda _: value, write=refusal(ErrorCode.WRITE_NOT_PERMITTED))


def write_only() -> CharacteristicValue:
    return CharacteristicValue(read=refusal(ErrorCode.READ_NOT_PERMITTED), write=lambda *_: None)


def services() -> list[Service]:
    """New services in the order of their handles. Included services come before the services that include them."""
    battery = Service(BATTERY, [
        Characteristic(BATTERY_LEVEL, Properties.READ | Properties.NOTIFY, Permissions.READABLE, bytes([87])),
    ])
    secondary = Service(SECONDARY, [
        Characteristic(SECONDARY_VALUE, Properties.READ, Permissions.READABLE, b"of a secondary service"),
    ], primary=False)
    device_information = Service(DEVICE_INFORMATION, [
        Characteristic(MANUFACTURER_NAME, Properties.READ, Permissions.READABLE, b"Exempel AB"),
        Characteristic(MODEL_NUMBER, Properties.READ, Permissions.READABLE, read_only(b"Mk. II")),
    ])
    everything = Service(EVERYTHING, [
        Characteristic(
            LONG_VALUE,
            Properties.READ | Properties.WRITE | Properties.WRITE_WITHOUT_RESPONSE,
            Permissions.READABLE | Permissions.WRITEABLE,
            LONG_BYTES,
            [
                Descriptor(UUID(0x2901), Permissions.READABLE, b"A long value"),
                Descriptor(UUID(0x2904), Permissions.READABLE, bytes([0x1B, 0, 0x00, 0x27, 1, 0, 0])),
            ],
        ),
        Characteristic(WRITE_ONLY, Properties.WRITE, Permissions.WRITEABLE, write_only()),
        Characteristic(NOTIFYING, Properties.NOTIFY, Permissions(0), b""),
        Characteristic(INDICATING, Properties.INDICATE | Properties.READ, Permissions.READABLE, b"at first"),
        Characteristic(
            ENCRYPTED, Properties.READ, Permissions.READABLE | Permissions.READ_REQUIRES_ENCRYPTION, b"a secret"),
        Characteristic(
            REFUSING, Properties.WRITE, Permissions.WRITEABLE, CharacteristicValue(write=refusal(APPLICATION_ERROR))),
    ], included_services=[battery, secondary])
    return [battery, secondary, device_information, everything]
