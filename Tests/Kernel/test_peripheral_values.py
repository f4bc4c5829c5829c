"""BlueZ as a client of our server: values read, written, notified and indicated."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from bleak.exc import BleakGATTProtocolError
from dbus_fast import BusType, Message
from dbus_fast.aio import MessageBus
from support.bluez import BlueZ
from support.peripheral import LENGTHS, Link, Peripheral, octets
from support.processes import TIMEOUT, until

BURST = 500
INDICATIONS = 20


@pytest_asyncio.fixture(scope="module", params=[23, 517], ids="MTU {}".format)
async def peripheral(request: pytest.FixtureRequest, daemon: BlueZ) -> AsyncIterator[Peripheral]:
    """Our peripheral with an ATT_MTU that splits values, and with one that fits any."""
    async with Peripheral.started(daemon, mtu=request.param) as peripheral:
        peripheral.mtu = request.param
        yield peripheral


def numbered(count: int, prefix: bytes = b"") -> list[bytes]:
    """Numbered values, as sent by the agent."""
    return [prefix + number.to_bytes(4, "little") for number in range(count)]


async def test_both_ends_agree_on_the_mtu(link: Link) -> None:
    assert (await link("mtu"))["mtu"] == link.peripheral.mtu
    one = link.client.services.get_characteristic(link.at("commanded"))
    assert one.max_write_without_response_size == link.peripheral.mtu - 3


# MARK: Reading and writing

async def test_values_of_any_length_are_read_and_written(link: Link) -> None:
    for length in LENGTHS:
        assert await link.read(f"value {length}") == octets(length)
    for length in LENGTHS:
        value = bytes(reversed(octets(length)))
        await link.write(f"value {length}", value)
        assert await link.peripheral.value(f"value {length}") == value
        assert await link.read(f"value {length}") == value
        # A value may grow, and shrink again.
        await link.write(f"value {length}", octets(512 - length))
        assert await link.read(f"value {length}") == octets(512 - length)
        await link.write(f"value {length}", octets(length))


async def test_a_value_is_read_from_an_offset_on(link: Link) -> None:
    for offset in (1, 22, 23, 255, 511, 512):
        assert await link.read_from("value 512", offset) == octets(512)[offset:]


async def test_a_value_is_written_in_parts(link: Link) -> None:
    # BlueZ uses prepared writes if the value is longer than a request, has an offset, or is to be reliable.
    await link.write("dynamic", octets(512), how="request")
    assert (await link.event("written", "dynamic"))["value"].lower() == octets(512).hex()
    await link.write("dynamic", b"in the midst", how="request", offset=100)
    assert (await link.event("written", "dynamic"))["value"].lower() == (octets(100) + b"in the midst").hex()
    await link.write("reliable", octets(300), how="reliable")
    assert await link.peripheral.value("reliable") == octets(300)
    assert await link.read("reliable") == octets(300)


async def test_a_dynamic_value_is_what_the_application_says(link: Link) -> None:
    for length in LENGTHS:
        await link.write("dynamic", octets(length))
        assert (await link.event("written", "dynamic"))["value"].lower() == octets(length).hex()
        assert await link.read("dynamic") == octets(length)


async def test_a_descriptor_is_written(link: Link) -> None:
    handle = link.peripheral.characteristics["described"]["descriptors"][1]["handle"]
    for length in (0, 20, 100):
        await link.client.write_gatt_descriptor(handle, octets(length))
        assert await link.client.read_gatt_descriptor(handle) == octets(length)


# MARK: Errors

async def test_what_the_application_refuses_is_told_as_it_says(link: Link) -> None:
    with pytest.raises(BleakGATTProtocolError) as error:
        await link.read("refused")
    assert error.value.code == 0x80
    with pytest.raises(BleakGATTProtocolError) as error:
        await link.write("refused", b"1")
    assert error.value.code == 0x80


async def test_what_may_not_be_written_is_not(link: Link) -> None:
    # BlueZ checks the properties of a characteristic itself; for a descriptor it must send the request.
    described = link.peripheral.characteristics["described"]["descriptors"][0]
    with pytest.raises(Exception, match="Write Not Permitted|NotPermitted"):
        await link.client.write_gatt_descriptor(described["handle"], b"1")
    assert await link.client.read_gatt_descriptor(described["handle"]) == bytes.fromhex(described["value"])


async def test_a_value_is_not_read_from_beyond_its_end(link: Link) -> None:
    with pytest.raises(RuntimeError, match="Invalid offset|InvalidOffset"):
        await link.read_from("value 100", 101)


async def test_no_value_is_longer_than_512_octets(link: Link) -> None:
    with pytest.raises(BleakGATTProtocolError) as error:
        await link.write("value 512", octets(513))
    assert error.value.code == 0x0D
    assert await link.read("value 512") == octets(512)


# MARK: Writing without response

async def test_a_burst_of_writes_without_response_arrives_whole_and_in_order(link: Link) -> None:
    values = numbered(BURST, octets(16))
    # Over D-Bus a write takes longer than on the air; through a socket they are as fast as BlueZ allows.
    with await acquired(link.path("commanded")) as stream:
        for value in values:
            stream.send(value)
        # When the socket is closed BlueZ drops what is still in it.
        arrived = [(await link.event("written", "commanded"))["value"].lower() for _ in values]
    assert arrived == [value.hex() for value in values]


async def acquired(path: str) -> socket.socket:
    """BlueZ's socket for writing without response."""
    bus = await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect()
    try:
        reply = await bus.call(Message(
            destination="org.bluez", path=path, interface="org.bluez.GattCharacteristic1", member="AcquireWrite",
            signature="a{sv}", body=[{}]))
        stream = socket.socket(fileno=os.dup(reply.unix_fds[0]))
        os.close(reply.unix_fds[0])
        stream.setblocking(True)
        return stream
    finally:
        bus.disconnect()


async def test_bleak_writes_without_response(link: Link) -> None:
    values = numbered(50)
    for value in values:
        await link.client.write_gatt_char(link.at("commanded"), value, response=False)
    assert [(await link.event("written", "commanded"))["value"].lower() for _ in values] == [
        value.hex() for value in values]


# MARK: Notifications and indications

# Each as a D-Bus signal, which takes long in this machine, or through a socket.
@pytest.mark.parametrize(("count", "are_signals"), [(200, True), (1000, False)], ids=["StartNotify", "AcquireNotify"])
async def test_notifications_arrive_whole_and_in_order(link: Link, count: int, are_signals: bool) -> None:
    peripheral = link.peripheral
    values = await link.subscribe("notifying", bluez={"use_start_notify": are_signals})
    await peripheral.agent("notify", handle=peripheral.handle("notifying"), value="0102", count=count)
    await until(lambda: len(values) >= count, "the notifications", timeout=3 * TIMEOUT)
    assert values == numbered(count, b"\x01\x02")


async def test_a_notification_is_as_long_as_the_link_carries(link: Link) -> None:
    peripheral = link.peripheral
    values = await link.subscribe("notifying")
    longest = octets(min(peripheral.mtu - 3, 512))
    for value in (b"", longest):
        await peripheral.agent("notify", handle=peripheral.handle("notifying"), value=value.hex())
    await until(lambda: len(values) == 2, "two notifications")
    assert values == [b"", longest]


async def test_each_indication_is_confirmed_before_the_next(link: Link) -> None:
    peripheral = link.peripheral
    values = await link.subscribe("indicating")
    await peripheral.agent("indicate", handle=peripheral.handle("indicating"), value="ff", count=INDICATIONS)
    # BlueZ confirms what it has received, then passes it on.
    await until(lambda: len(values) >= INDICATIONS, "the indications")
    assert values == numbered(INDICATIONS, b"\xFF")


async def test_several_subscriptions_do_not_disturb_each_other(link: Link) -> None:
    agent, handle = link.peripheral.agent, link.peripheral.handle
    names = ["notifying", "notifying too", "indicating"]
    values = {name: await link.subscribe(name) for name in names}
    sending = [agent.begin("notify", handle=handle("notifying"), value="01", count=100),
               agent.begin("notify", handle=handle("notifying too"), value="02", count=100),
               agent.begin("indicate", handle=handle("indicating"), value="03", count=INDICATIONS)]
    # Reads work in the meantime.
    for _ in range(3):
        assert await link.read("value 512") == octets(512)
    for answer in sending:
        assert (await answer)["count"] == 1
    await until(lambda: [len(values[name]) for name in names] == [100, 100, INDICATIONS], "all of them")
    assert values["notifying"] == numbered(100, b"\x01")
    assert values["notifying too"] == numbered(100, b"\x02")
    assert values["indicating"] == numbered(INDICATIONS, b"\x03")
    # Unsubscribing from one does not affect the others.
    await link.client.stop_notify(link.at("notifying"))
    await link.event("unsubscribed", "notifying")
    assert (await agent("notify", handle=handle("notifying"), value="04"))["count"] == 0
    assert (await agent("notify", handle=handle("notifying too"), value="05"))["count"] == 1
    await until(lambda: values["notifying too"][-1] == b"\x05", "the other")
    assert len(values["notifying"]) == 100
