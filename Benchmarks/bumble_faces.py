"""Does the same work as `faces` with Bumble, against the same peer, and prints the same line.

    bumble_faces.py notification|write|notify|read|report|channel-write|channel-read COUNT [ROUND]

BLUETOOTH_TRANSPORT names the controller. The peer sends ROUND notifications at a time.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import time
from collections.abc import Sequence

from bumble.device import Advertisement, Connection, Device, Peer
from bumble.gatt import Characteristic, Service
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import Address
from bumble.l2cap import LeCreditBasedChannel, LeCreditBasedChannelSpec
from bumble.transport import open_transport

SERVICE = "180D"
CHARACTERISTIC = "2A37"
VALUE = bytes(range(20))
PSM = 0x80
BLOCK = bytes(range(256)) * 4


class Flow:
    """What operations take, from the first one to the last."""

    def __init__(self) -> None:
        self.start, self.used = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)

    def end(self, operations: int, lost: int = 0, latencies: Sequence[int] = ()) -> None:
        seconds, used = time.perf_counter() - self.start, resource.getrusage(resource.RUSAGE_SELF)
        cpu = used.ru_utime + used.ru_stime - self.used.ru_utime - self.used.ru_stime
        switches = used.ru_nvcsw + used.ru_nivcsw - self.used.ru_nvcsw - self.used.ru_nivcsw
        line = f"operations={operations} seconds={seconds} cpu={cpu} switches={switches} lost={lost}"
        if latencies:
            median, late = (latencies[int(share * len(latencies))] / 1000 for share in (0.5, 0.99))
            line += f" median={median} late={late}"
        print(line)


async def connect_to_peer(device: Device) -> Connection:
    return await device.connect(Address("00:C0:DE:00:00:01", Address.PUBLIC_DEVICE_ADDRESS))


async def connect(device: Device) -> CharacteristicProxy[bytes]:
    """Connects to the peer, and returns its characteristic."""
    peer = Peer(await connect_to_peer(device))
    await peer.request_mtu(247)
    await peer.discover_services()
    await peer.discover_characteristics()
    (characteristic,) = peer.get_characteristics_by_uuid(CHARACTERISTIC)
    return characteristic


async def receive_notifications(device: Device, count: int, at_a_time: int) -> None:
    characteristic = await connect(device)
    received = 0
    latencies: list[int] = []
    round_is_complete = asyncio.Event()

    def on_value(value: bytes) -> None:
        nonlocal received
        received += 1
        latencies.append(time.monotonic_ns() - int.from_bytes(value[8:16], "little"))
        following = int.from_bytes(value[:4], "little") + 1
        if following == count or following % at_a_time == 0:
            round_is_complete.set()

    await characteristic.subscribe(on_value)
    flow = Flow()
    for _ in range(0, count, at_a_time):
        await characteristic.write_value(b"\1")
        await round_is_complete.wait()
        round_is_complete.clear()
    latencies.sort()
    flow.end(received, count - received, latencies)


async def write(device: Device, count: int) -> None:
    characteristic = await connect(device)
    flow = Flow()
    for _ in range(count):
        await characteristic.write_value(VALUE)
    # The answer comes when the peer has taken all of them.
    await characteristic.read_value()
    flow.end(count)


async def read(device: Device, count: int) -> None:
    characteristic = await connect(device)
    flow = Flow()
    for _ in range(count):
        assert len(await characteristic.read_value()) == len(VALUE)
    flow.end(count)


async def notify(device: Device, characteristic: Characteristic[bytes], count: int) -> None:
    subscribed: asyncio.Queue[tuple[Connection, bool]] = asyncio.Queue()
    characteristic.on(
        Characteristic.EVENT_SUBSCRIPTION,
        lambda connection, notifies, indicates: subscribed.put_nowait((connection, notifies)),
    )
    await device.start_advertising()
    connection, _ = await subscribed.get()
    flow = Flow()
    for _ in range(count):
        await device.notify_subscriber(connection, characteristic, VALUE)
    # The peer unsubscribes when it has received all of them.
    _, notifies = await subscribed.get()
    assert not notifies
    flow.end(count)


async def receive_reports(device: Device, count: int) -> None:
    received = 0
    is_complete = asyncio.Event()

    def on_advertisement(advertisement: Advertisement) -> None:
        nonlocal received
        # The peer's last word.
        if advertisement.rssi == 0:
            is_complete.set()
        else:
            received += 1

    device.on(Device.EVENT_ADVERTISEMENT, on_advertisement)
    flow = Flow()
    await device.start_scanning(filter_duplicates=False)
    await is_complete.wait()
    flow.end(received, count - received)


async def open_channel(device: Device) -> LeCreditBasedChannel:
    connection = await connect_to_peer(device)
    channel = await connection.create_l2cap_channel(LeCreditBasedChannelSpec(PSM, mtu=2048, mps=247, max_credits=64))
    assert isinstance(channel, LeCreditBasedChannel)
    return channel


async def write_blocks(device: Device, count: int) -> None:
    channel = await open_channel(device)
    is_complete = asyncio.Event()
    # The peer sends an octet when it has received all blocks.
    channel.sink = lambda _: is_complete.set()
    flow = Flow()
    for _ in range(count):
        channel.write(BLOCK)
        await channel.drain()
    await is_complete.wait()
    flow.end(count)


async def read_blocks(device: Device, count: int) -> None:
    channel = await open_channel(device)
    received = 0
    is_complete = asyncio.Event()

    def on_octets(octets: bytes) -> None:
        nonlocal received
        received += len(octets)
        if received == count * len(BLOCK):
            is_complete.set()

    channel.sink = on_octets
    flow = Flow()
    channel.write(b"\1")
    await is_complete.wait()
    flow.end(count)


async def main(work: str, count: int, at_a_time: int) -> None:
    characteristic: Characteristic[bytes] = Characteristic(
        CHARACTERISTIC, Characteristic.Properties.NOTIFY, Characteristic.Permissions(0), VALUE
    )
    async with await open_transport(os.environ["BLUETOOTH_TRANSPORT"]) as (source, sink):
        device = Device.with_hci("benchmark", Address("C0:DE:00:00:00:0F"), source, sink)
        if work == "notify":
            device.add_service(Service(SERVICE, [characteristic]))
        await device.power_on()
        if work == "notification":
            await receive_notifications(device, count, at_a_time)
        elif work == "notify":
            await notify(device, characteristic, count)
        else:
            works = {
                "write": write, "read": read, "report": receive_reports,
                "channel-write": write_blocks, "channel-read": read_blocks,
            }
            await works[work](device, count)


if __name__ == "__main__":
    limit = int(sys.argv[2])
    asyncio.run(main(sys.argv[1], limit, int(sys.argv[3]) if len(sys.argv) > 3 else limit))
