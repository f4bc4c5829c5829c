"""Measures the notifications of 20 octets per second from one Bumble host to another, both on Bumble's own controllers
in this process. Prints the rate, as `operations notify` does for our host.

    bumble_notifications.py COUNT
"""

from __future__ import annotations

import asyncio
import sys
import time

from bumble.controller import Controller
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, Service
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.transport.common import AsyncPipeSink

SERVICE = "180D"
CHARACTERISTIC = "2A37"
VALUE = bytes(range(20))


async def power_on(link: LocalLink, name: str, address: str, *services: Service) -> Device:
    """A device with its own controller, on the same air as the others on `link`."""
    host = Host()
    controller = Controller(name, host_source=host, link=link)
    host.controller = controller
    controller.host = AsyncPipeSink(host)
    device = Device(name=name, address=Address(address), host=host)
    for service in services:
        device.add_service(service)
    await device.power_on()
    return device


async def run(count: int) -> float:
    """Sends `count` values as fast as the sender may, and returns how many a second arrived."""
    characteristic = Characteristic(
        CHARACTERISTIC, Characteristic.Properties.NOTIFY, Characteristic.Permissions(0), VALUE
    )
    link = LocalLink()
    peripheral = await power_on(link, "peripheral", "C0:DE:00:00:00:0F", Service(SERVICE, [characteristic]))
    central = await power_on(link, "central", "C0:DE:00:00:00:0C")

    connected: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
    peripheral.on(Device.EVENT_CONNECTION, connected.set_result)
    await peripheral.start_advertising(auto_restart=False)
    connection = await central.connect(peripheral.random_address)
    subscriber = await connected

    peer = Peer(connection)
    await peer.request_mtu(517)
    await peer.discover_services()
    await peer.discover_characteristics()
    (proxy,) = peer.get_characteristics_by_uuid(characteristic.uuid)

    arrived = 0
    complete = asyncio.Event()

    def on_value(value: bytes) -> None:
        nonlocal arrived
        assert value == VALUE
        arrived += 1
        if arrived == count:
            complete.set()

    await proxy.subscribe(on_value)
    start = time.perf_counter()
    for _ in range(count):
        await peripheral.notify_subscriber(subscriber, characteristic, VALUE)
    await complete.wait()
    return count / (time.perf_counter() - start)


if __name__ == "__main__":
    print(int(asyncio.run(asyncio.wait_for(run(int(sys.argv[1])), timeout=120))))
