"""The constants of the card service, and the shared setup of Bumble."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import BinaryIO

from agreed import CARD_CHARACTERISTIC, CARD_SERVICE, CHUNK_SIZE
from bumble.core import UUID
from bumble.device import Device, DeviceConfiguration
from bumble.hci import Address
from bumble.snoop import BtSnooper
from bumble.transport import open_transport

SERVICE = UUID(CARD_SERVICE)
CHARACTERISTIC = UUID(CARD_CHARACTERISTIC)

# Then this is sent, alone in a notification.
END_OF_MESSAGE = b"EOM"

# The exit statuses of our own executables.
DONE, USAGE, NOT_FOUND, LINK_LOST, TRANSPORT_FAILED = 0, 2, 3, 4, 5


class TransportFailed(Exception):
    """The transport could not be opened, or the controller behind it did not answer."""


@contextlib.asynccontextmanager
async def open_device(
    transport: str, name: str, address: str, capture: BinaryIO | None, key: bytes = bytes(16), *,
    is_private: bool = False, has_enhanced_bearers: bool = False,
) -> AsyncIterator[Device]:
    """A powered device on a transport. Its address is a static random one, the kind every controller can serve, or a
    private one made with a key."""
    try:
        hci = await open_transport(transport)
    except Exception as error:
        raise TransportFailed(f"{transport}: {error}") from error
    async with hci:
        configuration = DeviceConfiguration(
            name=name, address=Address(address), irk=key, le_privacy_enabled=is_private, eatt_enabled=has_enhanced_bearers)
        device = Device.from_config_with_hci(configuration, hci.source, hci.sink)
        if capture is not None:
            device.host.snooper = BtSnooper(capture)
        try:
            await device.power_on()
        except Exception as error:
            raise TransportFailed(f"{transport}: {error!r}") from error
        yield device
