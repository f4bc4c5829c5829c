"""Us as a peripheral, to BlueZ as a central that bleak drives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from bleak import BleakClient
from bleak.exc import BleakError
from conftest import AgentFactory
from support import client
from support.agent import Agent
from support.bluez import BlueZ
from support.processes import PATIENCE, until

LONG = "e07f0ae8-00bb-47f5-94f4-4a7174ea30%02x"
MEASUREMENTS = LONG % 0x40
VALUES = {length: LONG % (0x50 + index) for index, length in enumerate((1, 22, 23, 100, 509, 512))}
KEPT, DYNAMIC, STREAM, SAID, TOLD = (LONG % octet for octet in (0x60, 0x61, 0x62, 0x63, 0x64))
READ, WITHOUT_RESPONSE, WRITE, NOTIFY, INDICATE = 0x02, 0x04, 0x08, 0x10, 0x20
PROPERTIES = {
    "read": READ, "write-without-response": WITHOUT_RESPONSE, "write": WRITE, "notify": NOTIFY, "indicate": INDICATE}


def pattern(length: int) -> bytes:
    return bytes(index * 7 % 251 for index in range(length))


def numbered(values: list[bytes]) -> list[int]:
    """The numbers the agent has put at the ends of values."""
    return [int.from_bytes(value[-4:], "little") for value in values]


class Served:
    """What our side has published, by UUID."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.services: list[dict[str, Any]] = []

    async def publish(self, uuid: str, *characteristics: dict[str, Any]) -> dict[str, Any]:
        reply = await self.agent("publish", service={"uuid": uuid, "characteristics": list(characteristics)})
        self.services.append(reply["service"])
        return reply["service"]

    def handle(self, uuid: str) -> int:
        """The handle of a characteristic's value."""
        return next(
            characteristic["handle"] for service in self.services for characteristic in service["characteristics"]
            if characteristic["uuid"] == uuid)


@pytest_asyncio.fixture
async def served(agents: AgentFactory) -> Served:
    """Our side, advertising, with a characteristic for everything that can be done with one."""
    agent = await agents(name="Kernel")
    served = Served(agent)
    await served.publish("180D", {"uuid": "2A37", "properties": NOTIFY}, {
        "uuid": "2A38", "properties": READ, "value": "01", "descriptors": [{"uuid": "2901", "value": "77726973"}]})
    await served.publish(MEASUREMENTS, *(
        {"uuid": uuid, "properties": READ, "value": pattern(length).hex()} for length, uuid in VALUES.items()))
    await served.publish(
        LONG % 0x41,
        {"uuid": KEPT, "properties": READ | WRITE, "value": "00"},
        {"uuid": DYNAMIC, "properties": READ | WRITE, "isDynamic": True, "value": "0102"},
        {"uuid": STREAM, "properties": WITHOUT_RESPONSE | READ, "value": "00"},
        {"uuid": SAID, "properties": NOTIFY | READ, "value": "00"},
        {"uuid": TOLD, "properties": INDICATE, "descriptors": [{"uuid": LONG % 0x70, "value": "aabb"}]})
    await agent("advertise", name="Kernel", services=["180D"])
    return served


@contextlib.asynccontextmanager
async def met(bluez: BlueZ) -> AsyncIterator[BleakClient]:
    """BlueZ connected to us, having discovered all there is, without what it remembers of us."""
    device = await client.found("0000180d-0000-1000-8000-00805f9b34fb", "Kernel")
    try:
        async with client.connected(device) as connection:
            yield connection
    finally:
        # Its cache would stand in for our answers the next time.
        await bluez.forget_devices("hci1")


def full(uuid: str) -> str:
    return uuid if len(uuid) == 36 else f"0000{uuid.lower()}-0000-1000-8000-00805f9b34fb"


async def test_bluez_finds_every_attribute(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        found = {service.handle: service for service in connection.services}
        for service in served.services:
            theirs = found[service["handle"]]
            assert theirs.uuid == full(service["uuid"])
            assert len(theirs.characteristics) == len(service["characteristics"])
            characteristics = sorted(theirs.characteristics, key=lambda characteristic: characteristic.handle)
            for ours, characteristic in zip(service["characteristics"], characteristics, strict=True):
                assert characteristic.uuid == full(ours["uuid"])
                assert characteristic.handle == ours["declaration"]
                assert sum(PROPERTIES[name] for name in characteristic.properties) == ours["properties"]
                described = [(descriptor.uuid, bytes(await connection.read_gatt_descriptor(descriptor)))
                             for descriptor in characteristic.descriptors
                             if descriptor.uuid != full("2902")]
                assert described == [
                    (full(descriptor["uuid"]), bytes.fromhex(descriptor["value"]))
                    for descriptor in ours.get("descriptors", [])]
                # BlueZ keeps the Client Characteristic Configuration to itself.
                handles = [descriptor.handle for descriptor in characteristic.descriptors]
                assert all(ours["handle"] < handle <= service["end"] for handle in handles)


async def test_values_of_any_length_are_read(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        for length, uuid in VALUES.items():
            assert bytes(await connection.read_gatt_char(uuid)) == pattern(length)


@pytest.mark.parametrize("uuid", [KEPT, DYNAMIC])
async def test_values_of_any_length_are_written(bluez: BlueZ, served: Served, uuid: str) -> None:
    async with met(bluez) as connection:
        for length in (0, 1, 20, 100, 512):
            await connection.write_gatt_char(uuid, pattern(length), response=True)
            event = await served.agent.event("written", handle=served.handle(uuid))
            assert event["value"] == pattern(length).hex().upper()
            assert bytes(await connection.read_gatt_char(uuid)) == pattern(length)


async def test_a_burst_of_writes_without_response_arrives_in_order(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        sent = [number.to_bytes(4, "little") * 5 for number in range(500)]
        for value in sent:
            await connection.write_gatt_char(STREAM, value, response=False)
        received = [bytes.fromhex((await served.agent.event("written"))["value"]) for _ in sent]
        assert received == sent


async def test_notifications_arrive_in_order(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        values: list[bytes] = []
        await connection.start_notify(SAID, lambda _, value: values.append(bytes(value)))
        await served.agent.event("subscribed", handle=served.handle(SAID))
        # Between a kernel's link and its socket there is no flow control: what the daemon does not read in time is lost
        # there. So there are pauses, in which it catches up.
        for batch in range(1, 11):
            sent = await served.agent("notify", handle=served.handle(SAID), value="00" * 16, count=100)
            assert sent["count"] == 1
            await until(lambda: len(values) >= 100 * batch, f"{100 * batch} notifications")
        assert numbered(values) == list(range(100)) * 10
        await connection.stop_notify(SAID)
        await served.agent.event("unsubscribed", handle=served.handle(SAID))
        assert (await served.agent("notify", handle=served.handle(SAID), value="00"))["count"] == 0


async def test_indications_are_confirmed_one_by_one_beside_notifications(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        told: list[bytes] = []
        said: list[bytes] = []
        await connection.start_notify(TOLD, lambda _, value: told.append(bytes(value)))
        await connection.start_notify(SAID, lambda _, value: said.append(bytes(value)))
        for uuid in (TOLD, SAID):
            await served.agent.event("subscribed", handle=served.handle(uuid))
        await asyncio.gather(
            served.agent("indicate", handle=served.handle(TOLD), value="", count=50),
            served.agent("notify", handle=served.handle(SAID), value="", count=200))
        await until(lambda: len(told) >= 50 and len(said) >= 200, "indications and notifications")
        assert (numbered(told), numbered(said)) == (list(range(50)), list(range(200)))


async def test_what_is_not_allowed_is_refused(bluez: BlueZ, served: Served) -> None:
    async with met(bluez) as connection:
        read_only = VALUES[1]
        with pytest.raises(BleakError):
            await connection.write_gatt_char(read_only, b"x", response=True)
        # The daemon knows the properties too; what it does not check is ours to refuse.
        with pytest.raises(BleakError):
            await connection.write_gatt_char(KEPT, bytes(513), response=True)
        assert bytes(await connection.read_gatt_char(KEPT)) == b"\0"


async def test_services_come_and_go_while_bluez_is_connected(bluez: BlueZ, served: Served) -> None:
    async with met(bluez):
        service = await served.publish(LONG % 0x42, {"uuid": LONG % 0x80, "properties": READ, "value": "2a"})
        path = f"service{service['handle']:04x}"
        for is_there in (True, False):
            end = asyncio.get_running_loop().time() + PATIENCE
            while any(object_path.endswith(path) for object_path in await bluez.objects()) != is_there:
                assert asyncio.get_running_loop().time() < end, f"BlueZ did not notice that the service is {is_there}"
                await asyncio.sleep(0.05)
            if is_there:
                await served.agent("withdraw", handle=service["handle"])


@pytest.mark.parametrize("ours_ends_it", [False, True], ids=["theirs", "ours"])
async def test_either_side_ends_the_connection_and_begins_another(
    bluez: BlueZ, served: Served, ours_ends_it: bool
) -> None:
    for _ in range(2):
        async with met(bluez) as connection:
            number = served.agent.connected()[-1]
            waiting = served.agent.begin("waitForDisconnection", connection=number)
            if ours_ends_it:
                await served.agent("disconnect", connection=number)
                await until(lambda: not connection.is_connected, "BlueZ to notice that we have gone")
            else:
                await connection.disconnect()
            reason = (await asyncio.wait_for(waiting, PATIENCE))["reason"]
            # The emulator tells him who ends it the reason that is meant for the other (Core 5.4, Vol 4, Part E, 7.1.6).
            assert reason == "the peer ended the connection"
            await served.agent.event("disconnected", connection=number, reason=reason)
