"""Advertising on the Bumble host, without links: sends octets, or prints those that it receives.

Exits 0 when done, 3 if nothing was received in time, 5 if the transport failed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys

import card
from bumble import hci
from bumble.device import (
    Advertisement,
    AdvertisingEventProperties,
    AdvertisingParameters,
    AdvertisingType,
    Device,
)


async def advertise(device: Device, data: bytes, response: bytes, connectable: bool) -> None:
    """Until this process is ended."""
    kind = AdvertisingType.UNDIRECTED_CONNECTABLE_SCANNABLE if connectable else AdvertisingType.UNDIRECTED
    device.scan_response_data = response
    await device.start_advertising(
        advertising_type=kind, advertising_data=data, scan_response_data=response, advertising_interval_min=100,
        advertising_interval_max=100)
    say("advertising")
    await asyncio.get_running_loop().create_future()


async def advertise_set(
    device: Device, data: bytes, connectable: bool, phy: hci.Phy, sid: int, anonymous: bool
) -> None:
    """The same in a set with extended PDUs."""
    await device.create_advertising_set(
        AdvertisingParameters(
            AdvertisingEventProperties(is_connectable=connectable, is_anonymous=anonymous),
            primary_advertising_interval_min=100, primary_advertising_interval_max=100,
            secondary_advertising_phy=phy, advertising_sid=sid),
        random_address=device.random_address, advertising_data=data)
    say("advertising")
    await asyncio.get_running_loop().create_future()


async def observe(device: Device, timeout: float) -> int:
    """Prints the octets of the first advertisement, and whether its sender is connectable.

    Of extended advertising also the SID and the secondary PHY. Bumble hands fragments on as they are reported.
    """
    found: asyncio.Future[Advertisement] = asyncio.get_running_loop().create_future()
    fragments = bytearray()

    def on_advertisement(advertisement: Advertisement) -> None:
        if found.done() or advertisement.is_scan_response:
            return
        fragments.extend(advertisement.data_bytes)
        if advertisement.is_complete:
            found.set_result(advertisement)

    device.on(Device.EVENT_ADVERTISEMENT, on_advertisement)
    await device.start_scanning(active=False)
    try:
        advertisement = await asyncio.wait_for(found, timeout)
    except TimeoutError:
        say("nothing was received")
        return card.NOT_FOUND
    line = [fragments.hex().upper(), str(advertisement.is_connectable)]
    if not advertisement.is_legacy:
        line += [str(advertisement.sid), str(int(advertisement.secondary_phy)), str(advertisement.is_anonymous)]
    print(*line, flush=True)
    return card.DONE


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


async def run(arguments: argparse.Namespace) -> int:
    async with card.open_device(arguments.transport, "air", arguments.address, None) as device:
        if arguments.data is None:
            return await observe(device, arguments.timeout)
        if arguments.sid is not None:
            await advertise_set(
                device, arguments.data, arguments.connectable, hci.Phy(arguments.phy), arguments.sid,
                arguments.anonymous)
        await advertise(device, arguments.data, arguments.response, arguments.connectable)
        return card.DONE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("--address", default="F0:0D:00:00:00:01", help="static random address")
    parser.add_argument("--data", type=bytes.fromhex, help="advertising data to send; without it, receive")
    parser.add_argument("--response", type=bytes.fromhex, default=b"", help="scan response data to send")
    parser.add_argument("--connectable", action="store_true", help="accept connections")
    parser.add_argument("--sid", type=int, help="send extended PDUs, of this set")
    parser.add_argument("--phy", type=int, default=1, help="their secondary PHY: 1, 2 or 3")
    parser.add_argument("--anonymous", action="store_true", help="without an address")
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
