"""A central on the Bumble host: finds the card service, receives a payload and prints it to stdout, and nothing else.

Exits 0 when done, 3 if nothing was found in time, 4 if the link was lost or a procedure failed, 5 if the transport
failed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys

import card
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import Advertisement, Device, Peer
from bumble.hci import Address


class NotFound(Exception):
    """There is no such advertiser, service or characteristic."""


class LinkLost(Exception):
    """The link was lost, or the peer did not answer in time."""


def advertised_services(data: AdvertisingData) -> list[UUID]:
    """The 128-bit service UUIDs in advertising data."""
    uuids = []
    for kind in (
        AdvertisingData.Type.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
        AdvertisingData.Type.INCOMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
    ):
        for value in data.get_all(kind, raw=True):
            uuids += [UUID.from_bytes(value[at : at + 16]) for at in range(0, len(value), 16)]
    return uuids


async def find(device: Device) -> Address:
    """The address of the first advertiser of the card service."""
    found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement: Advertisement) -> None:
        if not found.done() and card.SERVICE in advertised_services(advertisement.data):
            found.set_result(advertisement)

    device.on(Device.EVENT_ADVERTISEMENT, on_advertisement)
    await device.start_scanning(active=True)
    advertisement = await found
    await device.stop_scanning()
    device.remove_listener(Device.EVENT_ADVERTISEMENT, on_advertisement)
    say(f"found {advertisement.address}, {advertisement.rssi} dBm")
    return advertisement.address


async def receive(peer: Peer, mtu: int | None) -> bytes:
    """Subscribes and assembles the payload: every notification is appended until EOM. Without an MTU none is exchanged."""
    if mtu is not None:
        say(f"ATT_MTU {await peer.request_mtu(mtu)}")
    services = await peer.discover_service(card.SERVICE)
    if not services:
        raise NotFound("the peer has no card service")
    characteristics = await services[0].discover_characteristics([card.CHARACTERISTIC])
    if not characteristics:
        raise NotFound("the card service has no card characteristic")
    characteristic = characteristics[0]
    await characteristic.discover_descriptors()

    payload = bytearray()
    notifications = 0
    complete = asyncio.Event()

    def on_notification(value: bytes) -> None:
        nonlocal notifications
        if value == card.END_OF_MESSAGE:
            complete.set()
        else:
            payload.extend(value)
            notifications += 1

    await characteristic.subscribe(on_notification)
    await complete.wait()
    say(f"received {len(payload)} bytes in {notifications} notifications")
    await characteristic.unsubscribe(on_notification, force=True)
    return bytes(payload)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> bytes:
    async with card.open_device(arguments.transport, "central", arguments.address, arguments.btsnoop) as device:
        try:
            address = await asyncio.wait_for(find(device), arguments.timeout)
        except TimeoutError as error:
            raise NotFound("no advertiser of the card service") from error
        try:
            async with asyncio.timeout(arguments.timeout):
                connection = await device.connect(address)
                say(f"connected to {address}")
                lost = asyncio.get_running_loop().create_future()
                connection.once(connection.EVENT_DISCONNECTION, lost.set_result)
                transfer = asyncio.ensure_future(receive(Peer(connection), arguments.mtu))
                await asyncio.wait([transfer, lost], return_when=asyncio.FIRST_COMPLETED)
                if not transfer.done():
                    transfer.cancel()
                    with contextlib.suppress(asyncio.CancelledError, BaseBumbleError):
                        await transfer
                    raise LinkLost(f"the link was lost, reason 0x{lost.result():02X}")
                payload = await transfer
                await connection.disconnect()
                return payload
        except (TimeoutError, asyncio.CancelledError, BaseBumbleError) as error:
            raise LinkLost(repr(error)) from error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--address", default="F0:0D:00:00:00:02", help="static random address")
    parser.add_argument("--mtu", type=int, default=185, help="ATT_MTU to ask for")
    parser.add_argument("--timeout", type=float, default=20, help="seconds to find, and then seconds to transfer")
    parser.add_argument("--btsnoop", type=argparse.FileType("wb", bufsize=0), help="file to capture into")
    try:
        payload = asyncio.run(run(parser.parse_args()))
    except NotFound as error:
        say(str(error))
        return card.NOT_FOUND
    except LinkLost as error:
        say(str(error))
        return card.LINK_LOST
    except card.TransportFailed as error:
        say(str(error))
        return card.TRANSPORT_FAILED
    sys.stdout.buffer.write(payload)
    sys.stdout.buffer.flush()
    return card.DONE


if __name__ == "__main__":
    sys.exit(main())
