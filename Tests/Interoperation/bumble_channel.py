"""One end of an LE credit-based channel on the Bumble host: sends a file, and prints what it receives to stdout.

Serves a channel, or scans for a server and opens a channel to it. Closes the channel once it has received as much as it
sent. Exits 0 when done, 3 if nothing was found in time, 4 if the channel was closed early, 5 if the transport failed.
"""

from __future__ import annotations

import argparse
import asyncio
import pathlib
import sys

import card
from bumble import l2cap
from bumble.core import AdvertisingData, BaseBumbleError
from bumble.device import Advertisement, Device

NAME = "ble l2cap"
FLAGS = bytes([0x06])  # LE General Discoverable Mode, BR/EDR Not Supported


async def exchange(channel: l2cap.LeCreditBasedChannel, payload: bytes, received: bytearray) -> bool:
    """Sends the payload while receiving the same amount. Returns whether the channel lasted that long."""
    done, closed = asyncio.Event(), asyncio.Event()

    def on_data(data: bytes) -> None:
        received.extend(data)
        if len(received) >= len(payload):
            done.set()

    channel.sink = on_data
    channel.on(channel.EVENT_CLOSE, closed.set)
    say(f"open: MTU {channel.peer_mtu}, MPS {channel.peer_mps}, {channel.peer_credits} credits")
    channel.write(payload)
    await channel.drain()
    waiting = [asyncio.create_task(event.wait()) for event in (done, closed)]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if not done.is_set():
        return False
    await channel.disconnect()
    return True


async def serve(device: Device, spec: l2cap.LeCreditBasedChannelSpec) -> l2cap.LeCreditBasedChannel:
    """Advertises, and waits for a channel."""
    opened: asyncio.Future[l2cap.LeCreditBasedChannel] = asyncio.get_running_loop().create_future()
    device.create_l2cap_server(spec, handler=opened.set_result)
    data = AdvertisingData([(AdvertisingData.FLAGS, FLAGS), (AdvertisingData.COMPLETE_LOCAL_NAME, NAME.encode())])
    await device.start_advertising(advertising_data=bytes(data))
    return await opened


async def connect(device: Device, spec: l2cap.LeCreditBasedChannelSpec) -> l2cap.LeCreditBasedChannel:
    """Finds the advertiser of the name, and opens a channel."""
    found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement: Advertisement) -> None:
        if not found.done() and NAME in advertisement.data.get_all(AdvertisingData.Type.COMPLETE_LOCAL_NAME):
            found.set_result(advertisement)

    device.on(Device.EVENT_ADVERTISEMENT, on_advertisement)
    await device.start_scanning(active=True)
    advertisement = await found
    await device.stop_scanning()
    connection = await device.connect(advertisement.address)
    return await connection.create_l2cap_channel(spec)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> int:
    payload = arguments.payload.read_bytes()
    spec = l2cap.LeCreditBasedChannelSpec(
        psm=arguments.psm, mtu=arguments.mtu, mps=arguments.mps, max_credits=arguments.credits)
    received = bytearray()
    async with card.open_device(
        arguments.transport, NAME, arguments.address, arguments.btsnoop
    ) as device:
        channel = await (serve if arguments.role == "serve" else connect)(device, spec)
        lasted = await exchange(channel, payload, received)
        # The other end learns that the channel is closed, before the link goes.
        await asyncio.sleep(0.5)
    sys.stdout.buffer.write(received)
    return card.DONE if lasted else card.LINK_LOST


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("role", choices=["serve", "open"])
    parser.add_argument("--payload", type=pathlib.Path, required=True, help="file whose bytes to send")
    parser.add_argument("--psm", type=int, default=0x80)
    parser.add_argument("--mtu", type=int, default=2048)
    parser.add_argument("--mps", type=int, default=247)
    parser.add_argument("--credits", type=int, default=8)
    parser.add_argument("--address", default="F0:0D:00:00:00:01", help="static random address")
    parser.add_argument("--timeout", type=float, default=40, help="seconds after which to give up")
    parser.add_argument("--btsnoop", type=argparse.FileType("wb", bufsize=0), help="file to capture into")
    arguments = parser.parse_args()
    try:
        return asyncio.run(asyncio.wait_for(run(arguments), arguments.timeout))
    except card.TransportFailed as error:
        say(str(error))
        return card.TRANSPORT_FAILED
    except BaseBumbleError as error:
        say(f"{error}")
        return card.LINK_LOST
    except TimeoutError:
        say("not done in time")
        return card.NOT_FOUND


if __name__ == "__main__":
    sys.exit(main())
