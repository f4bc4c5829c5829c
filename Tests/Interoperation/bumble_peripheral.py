"""A peripheral on the Bumble host: advertises the card service and sends a payload to every subscriber.

Exits 0 after the first complete transfer with --once; 4 if the link was lost before, 5 if the transport failed.
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import sys

import card
from bumble.core import AdvertisingData, ConnectionError, ProtocolError
from bumble.device import Connection, Device
from bumble.gatt import Characteristic, Service

FLAGS = bytes([0x06])  # LE General Discoverable Mode, BR/EDR Not Supported


class CardPeripheral:
    """Serves one payload, in notifications, to each central that subscribes."""

    def __init__(self, device: Device, payload: bytes, chunk_size: int, once: bool) -> None:
        self.device = device
        self.payload = payload
        self.chunk_size = chunk_size
        self.once = once
        self.transferred = asyncio.Event()
        self.link_lost = asyncio.Event()
        self.transfers: set[asyncio.Task[None]] = set()
        self.characteristic = Characteristic(
            card.CHARACTERISTIC, Characteristic.Properties.NOTIFY, Characteristic.Permissions(0), b""
        )
        self.characteristic.on(Characteristic.EVENT_SUBSCRIPTION, self.on_subscription)
        device.add_service(Service(card.SERVICE, [self.characteristic]))
        device.on(Device.EVENT_CONNECTION, self.on_connection)

    async def advertise(self) -> None:
        """Name and service go into the advertising data: not every controller sends a scan response."""
        data = AdvertisingData([
            (AdvertisingData.FLAGS, FLAGS),
            (AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS, bytes(card.SERVICE)),
            (AdvertisingData.COMPLETE_LOCAL_NAME, self.device.name.encode()),
        ])
        await self.device.start_advertising(
            advertising_data=bytes(data),
            auto_restart=not self.once,
            advertising_interval_min=100,
            advertising_interval_max=100,
        )

    def on_connection(self, connection: Connection) -> None:
        say(f"connected to {connection.peer_address}")
        connection.on(Connection.EVENT_DISCONNECTION, self.on_disconnection)

    def on_disconnection(self, reason: int) -> None:
        say(f"disconnected, reason 0x{reason:02X}")
        self.link_lost.set()

    def on_subscription(self, connection: Connection, notify: bool, _indicate: bool) -> None:
        say("subscribed" if notify else "unsubscribed")
        if notify:
            transfer = asyncio.create_task(self.send_payload(connection))
            self.transfers.add(transfer)
            transfer.add_done_callback(self.transfers.discard)

    async def send_payload(self, connection: Connection) -> None:
        chunks = [self.payload[at : at + self.chunk_size] for at in range(0, len(self.payload), self.chunk_size)]
        try:
            for value in [*chunks, card.END_OF_MESSAGE]:
                await self.device.notify_subscriber(connection, self.characteristic, value)
            await connection.drain()
        except (ConnectionError, ProtocolError, asyncio.CancelledError):
            say("the link was lost during the transfer")
            return
        say(f"sent {len(self.payload)} bytes in {len(chunks)} notifications")
        self.transferred.set()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> int:
    payload = arguments.payload.read_bytes()
    async with card.open_device(
        arguments.transport, arguments.name, arguments.address, arguments.btsnoop
    ) as device:
        peripheral = CardPeripheral(device, payload, arguments.chunk_size, arguments.once)
        await peripheral.advertise()
        say(f"advertising {arguments.name} as {device.random_address}")
        if not arguments.once:
            await asyncio.get_running_loop().create_future()
        await peripheral.link_lost.wait()
        return card.DONE if peripheral.transferred.is_set() else card.LINK_LOST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--payload", type=pathlib.Path, required=True, help="file whose bytes to send")
    parser.add_argument("--name", default="BCS")
    parser.add_argument("--address", default="F0:0D:00:00:00:01", help="static random address")
    parser.add_argument("--chunk-size", type=int, default=card.CHUNK_SIZE)
    parser.add_argument("--once", action="store_true", help="end when the first central has left")
    parser.add_argument("--timeout", type=float, help="seconds after which to give up")
    parser.add_argument("--btsnoop", type=argparse.FileType("wb", bufsize=0), help="file to capture into")
    arguments = parser.parse_args()
    try:
        return asyncio.run(asyncio.wait_for(run(arguments), arguments.timeout))
    except card.TransportFailed as error:
        say(str(error))
        return card.TRANSPORT_FAILED
    except TimeoutError:
        say("no complete transfer in time")
        return card.NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
