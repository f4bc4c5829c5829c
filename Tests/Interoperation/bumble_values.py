"""A Bumble peripheral with values of every kind, some of them hostile, for `client.py`. Serves one central after the
other until it is ended, and prints the values that are written to it."""

from __future__ import annotations

import argparse
import asyncio
import sys

import card
from agreed import VALUES_NAME as NAME
from bumble import att
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import Connection, Device
from bumble.gatt import Characteristic, CharacteristicValue, Descriptor, Service

# Must not reach a terminal unescaped, and is invalid UTF-8.
HOSTILE = b"Acme\x1b[2J\xe2\x80\xae\xff"
NOTIFIED = [b"\x1b[31mred\r\n", b"\xff\xfe\x9b", b"plain text", "\u202edrac".encode()]

Properties, Permissions = Characteristic.Properties, Characteristic.Permissions
READ, WRITE = Permissions.READABLE, Permissions.WRITEABLE


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


class Values:
    """The services, and the values that they send to subscribers."""

    def __init__(self, device: Device, arguments: argparse.Namespace) -> None:
        self.device = device
        # After how many numbers the first link is ended.
        self.leave = arguments.leave
        # After how many the first central is told that all services have changed.
        self.change = arguments.change
        self.leaving: asyncio.Task[None] | None = None
        self.tasks: set[asyncio.Task[None]] = set()
        self.stored = b"\x05"
        self.heart = self.sending("2A37", [bytes([0x10, 72, 0x00, 0x04])])
        self.hostile = self.sending("F205", NOTIFIED)
        self.numbers = self.sending("F206", [])
        device.add_services([
            Service(UUID("180A"), [Characteristic(UUID("2A29"), Properties.READ, READ, HOSTILE)]),
            Service(UUID("180F"), [Characteristic(UUID("2A19"), Properties.READ, READ, b"\x57")]),
            Service(UUID("180D"), [self.heart, Characteristic(UUID("2A38"), Properties.READ, READ, b"\x01")]),
            Service(UUID("F200"), [
                Characteristic(UUID("F201"), Properties.READ | Properties.WRITE, READ | WRITE,
                               CharacteristicValue(read=self.read, write=self.write)),
                Characteristic(UUID("F202"), Properties.WRITE_WITHOUT_RESPONSE, WRITE,
                               CharacteristicValue(write=self.write)),
                Characteristic(UUID("F203"), Properties.READ, READ, b"hello",
                               [Descriptor(UUID("2901"), READ, b"first\x1b[2J")]),
                Characteristic(UUID("F204"), Properties.READ | Properties.WRITE, READ | WRITE,
                               CharacteristicValue(read=self.refuse, write=self.refuse)),
                self.hostile, self.numbers,
           ]),
            Service(UUID("F300"), [Characteristic(UUID("F203"), Properties.READ, READ, bytes([1, 2, 3, 4]))]),
       ])

    def sending(self, uuid: str, values: list[bytes]) -> Characteristic:
        """A characteristic that sends these values again and again to its subscribers; numbers if there are none."""
        characteristic = Characteristic(UUID(uuid), Properties.NOTIFY, Permissions(0), b"")

        async def send(connection: Connection) -> None:
            number = 0
            try:
                while True:
                    value = values[number % len(values)] if values else number.to_bytes(2, "little")
                    await self.device.notify_subscriber(connection, characteristic, value)
                    number += 1
                    if not values and number == self.change:
                        self.change = None
                        changed = self.device.gatt_service.service_changed_characteristic
                        # Whoever has not asked for it is not told.
                        subscribers = self.device.gatt_server.subscribers
                        while changed.handle not in subscribers.get(connection, {}):
                            await asyncio.sleep(0.02)
                        await self.device.indicate_subscriber(connection, changed, bytes.fromhex("0100ffff"))
                    if not values and number == self.leave:
                        self.leave = None
                        await connection.drain()
                        # Not by this task, which ends with the link.
                        self.leaving = asyncio.create_task(connection.disconnect())
                        return
                    await asyncio.sleep(0.02)
            except (BaseBumbleError, asyncio.CancelledError):
                return

        def on_subscription(connection: Connection, notify: bool, _indicate: bool) -> None:
            if notify:
                task = asyncio.create_task(send(connection))
                self.tasks.add(task)
                connection.on(Connection.EVENT_DISCONNECTION, lambda _reason: task.cancel())
                task.add_done_callback(self.tasks.discard)

        characteristic.on(Characteristic.EVENT_SUBSCRIPTION, on_subscription)
        return characteristic

    def read(self, _connection: Connection) -> bytes:
        return self.stored

    def write(self, _connection: Connection, value: bytes) -> None:
        say(f"written: {value.hex()}")
        self.stored = value

    def refuse(self, _connection: Connection, _value: bytes = b"") -> bytes:
        raise att.ATT_Error(error_code=att.ErrorCode.INSUFFICIENT_AUTHENTICATION)


async def run(arguments: argparse.Namespace) -> None:
    async with card.open_device(arguments.transport, NAME, "F0:0D:00:00:00:01", None) as device:
        values = Values(device, arguments)
        data = AdvertisingData([
            (AdvertisingData.FLAGS, b"\x06"), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
        await device.start_advertising(
            advertising_data=bytes(data), auto_restart=True, advertising_interval_min=100, advertising_interval_max=100)
        say(f"advertising with {len(values.tasks)} subscribers")
        await asyncio.get_running_loop().create_future()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--leave", type=int, help="end the first link after so many numbers of F206")
    parser.add_argument("--change", type=int, help="tell the first central after so many that the services have changed")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
