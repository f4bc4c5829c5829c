"""Advertising on the Bumble host, without links: sends octets, or prints those that it receives.

Exits 0 when done, 3 if nothing was received in time, 5 if the transport failed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

import card
from bumble.device import Advertisement, AdvertisingType, Device


async def advertise(device: Device, data: bytes, response: bytes, connectable: bool) -> None:
    """Until this process is ended."""
    kind = AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE if connectable else AdvertisingType.UNDIRECTED
    device.scan_response_data = response
    await device.start_advertising(
        advertising_type=kind, advertising_data=data, scan_response_data=response, advertising_interval_min=100,
        advertising_interval_max=100)
    say("advertising")
    await asyncio.get_running_loop().create_future()


async def observe(device: Device, timeout: float) -> int:
    """Prints the octets of the first advertisement, and whether one may connect to who sent it."""
    found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()

    def on_advertisement(advertisement: Advertisement) -> None:
        if not found.done() and not advertisement.is_scan_response:
            found.set_result(advertisement)

    device.on(Device.EVENT_ADVERTISEMENT, on_advertisement)
    await device.start_scanning(active=False)
    try:
        advertisement = await asyncio.wait_for(found, timeout)
    except TimeoutError:
        say("nothing was received")
        return card.NOT_FOUND
    print(advertisement.data_bytes.hex().upper(), advertisement.is_connectable, flush=True)
    return card.DONE


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> int:
    async with card.open_device(arguments.transport, "air", arguments.address, None) as device:
        if arguments.data is None:
            return await observe(device, arguments.timeout)
        await advertise(device, arguments.data, arguments.response, arguments.connectable)
        return card.DONE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--address", default="F0:0D:00:00:00:01", help="static random address")
    parser.add_argument("--data", type=bytes.fromhex, help="advertising data to send; without it, receive")
    parser.add_argument("--response", type=bytes.fromhex, default=b"", help="scan response data to send")
    parser.add_argument("--connectable", action="store_true", help="accept connections")
    parser.add_argument("--timeout", type=float, default=20, help="seconds to receive something")
    try:
        return asyncio.run(run(parser.parse_args()))
    except card.TransportFailed as error:
        say(str(error))
        return card.TRANSPORT_FAILED
    except KeyboardInterrupt:
        return card.DONE


if __name__ == "__main__":
    sys.exit(main())
