"""A peripheral on the Bumble host that offers a card, and makes a mistake during the transfer."""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import sys

import bumble_peripheral
import card
from bumble import att
from bumble.device import Connection
from bumble.gatt import Characteristic, Service
from bumble.hci import HCI_AclDataPacket

ATT_CHANNEL = 4


class Peripheral(bumble_peripheral.CardPeripheral):
    """Sends two chunks of the card, then a third one in a way that subclasses choose, then the rest."""

    def frame(self, value: bytes) -> bytes:
        """The L2CAP frame of a notification."""
        pdu = bytes([0x1B]) + self.characteristic.handle.to_bytes(2, "little") + value
        return len(pdu).to_bytes(2, "little") + ATT_CHANNEL.to_bytes(2, "little") + pdu

    def send_fragment(self, connection: Connection, data: bytes, is_start: bool) -> None:
        """A piece of a frame, as it is."""
        packet = HCI_AclDataPacket(
            connection_handle=connection.handle, pb_flag=0 if is_start else 1, bc_flag=0, data_total_length=len(data),
            data=data)
        queue = self.device.host.connections[connection.handle].acl_packet_queue
        if queue is not None:
            queue.enqueue(packet, connection.handle)

    async def send_payload(self, connection: Connection) -> None:
        chunks = [self.payload[at : at + self.chunk_size] for at in range(0, len(self.payload), self.chunk_size)]
        for index, value in enumerate([*chunks, card.END_OF_MESSAGE]):
            if index == 2 and not await self.send_wrongly(connection, value):
                return
            if index != 2:
                await self.device.notify_subscriber(connection, self.characteristic, value)
        await connection.drain()

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        """Sends a chunk. Returns False if nothing may follow it."""
        raise NotImplementedError


class Interrupted(Peripheral):
    """Only the beginning of a frame is sent."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        self.send_fragment(connection, self.frame(value)[:10], True)
        return True


class Overlong(Peripheral):
    """A frame continues beyond its end."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        frame = self.frame(value)
        self.send_fragment(connection, frame[:10], True)
        self.send_fragment(connection, frame[10:] + b"and more", False)
        return True


class AboveMTU(Peripheral):
    """A notification is longer than any ATT_MTU of the other side."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        self.device.host.send_acl_sdu(connection.handle, self.frame(value.ljust(600)))
        return True


class Stalled(Peripheral):
    """Nothing more is sent."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        return False


class Empty(Peripheral):
    """Nothing but empty notifications is sent."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        while connection in self.device.connections.values():
            await self.device.notify_subscriber(connection, self.characteristic, b"")
            await asyncio.sleep(0.5)
        return False


class Endless(Peripheral):
    """The card has no end."""

    async def send_wrongly(self, connection: Connection, value: bytes) -> bool:
        while connection in self.device.connections.values():
            await self.device.notify_subscriber(connection, self.characteristic, b"!")
            await asyncio.sleep(0.5)
        return False


class Silent(Peripheral):
    """No request is answered, not even that for the ATT_MTU."""

    async def advertise(self) -> None:
        self.device.gatt_server.on_gatt_pdu = lambda bearer, pdu: None
        await super().advertise()


class Unanswered(Peripheral):
    """No write is answered, and so no request to subscribe."""

    async def advertise(self) -> None:
        server = self.device.gatt_server
        answer = server.on_gatt_pdu
        server.on_gatt_pdu = lambda bearer, pdu: (
            None if isinstance(pdu, att.ATT_Write_Request) else answer(bearer, pdu))
        await super().advertise()


class Cardless(Peripheral):
    """The service has another characteristic than that of the card."""

    async def advertise(self) -> None:
        # In the place of what the base class has added.
        self.device.gatt_server.attributes.clear()
        other = Characteristic("2A00", Characteristic.Properties.NOTIFY, Characteristic.Permissions(0), b"")
        self.device.add_service(Service(card.SERVICE, [other]))
        await super().advertise()


FAULTS: dict[str, type[Peripheral]] = {
    kind.__name__: kind
    for kind in (Interrupted, Overlong, AboveMTU, Stalled, Empty, Endless, Silent, Unanswered, Cardless)
}


async def run(arguments: argparse.Namespace) -> None:
    async with card.open_device(arguments.transport, "BCS", "F0:0D:00:00:00:01", arguments.btsnoop) as device:
        peripheral = FAULTS[arguments.fault](device, arguments.payload.read_bytes(), card.CHUNK_SIZE, False)
        await peripheral.advertise()
        bumble_peripheral.say("advertising")
        # Until the central is done, and this program is ended.
        await asyncio.get_running_loop().create_future()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--fault", choices=FAULTS, required=True, help="what to do wrong")
    parser.add_argument("--payload", type=pathlib.Path, required=True, help="file whose bytes to send")
    parser.add_argument("--btsnoop", type=argparse.FileType("wb", bufsize=0), help="file to capture into")
    arguments = parser.parse_args()
    try:
        asyncio.run(run(arguments))
    except card.TransportFailed as error:
        print(error, file=sys.stderr, flush=True)
        return card.TRANSPORT_FAILED
    return card.DONE


if __name__ == "__main__":
    sys.exit(main())
