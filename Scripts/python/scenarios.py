"""The recorded scenarios. Each shows one thing, and is named after it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable

import fixture_database as database
from bumble import att, l2cap
from bumble.device import Connection
from bumble.gatt_client import Client
from laboratory import Laboratory, Link, Waiter
from pairing_scenarios import PAIRINGS, pair_and_reconnect


@dataclasses.dataclass
class Scenario:
    """A recording. If `extended` is true, Bumble's controllers have the features of Core 5.0."""

    name: str
    summary: str
    run: Callable[[Laboratory], Awaitable[None]]
    extended: bool = True


async def advertising(laboratory: Laboratory) -> None:
    await laboratory.central.start_scanning(active=True)
    await laboratory.advertise()
    await asyncio.sleep(0.35)
    await laboratory.peripheral.stop_advertising()
    await asyncio.sleep(0.2)
    await laboratory.central.stop_scanning()
    await laboratory.central.start_scanning(active=False, filter_duplicates=True)
    await laboratory.advertise()
    await asyncio.sleep(0.35)
    await laboratory.central.stop_scanning()
    await laboratory.peripheral.stop_advertising()


async def discovery(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    await link.peer.discover_services()
    await link.peer.discover_service(database.BATTERY)
    for service in await link.peer.discover_service(database.EVERYTHING):
        await link.peer.discover_included_services(service)
        await link.peer.discover_characteristics([], service)
    await link.peer.discover_all()
    await link.peer.discover_attributes()
    await link.end_by_central()


async def mtu_exchange(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    await link.peer.request_mtu(185)
    characteristics = await link.discover_everything()
    await characteristics["LONG_VALUE"].read_value()
    await link.end_by_peripheral()


async def reads(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    characteristics = await link.discover_everything()
    await characteristics["MODEL_NUMBER"].read_value()
    await characteristics["LONG_VALUE"].read_value()
    await link.peer.read_characteristics_by_uuid(database.MANUFACTURER_NAME, None)
    handles = [characteristics[name].handle for name in ("BATTERY_LEVEL", "MODEL_NUMBER")]
    client = link.peer.gatt_client
    await client.send_request(att.ATT_Read_Multiple_Request(set_of_handles=handles))
    await client.send_request(att.ATT_Read_Multiple_Variable_Request(set_of_handles=handles))
    await link.end_by_central()


async def writes(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    characteristics = await link.discover_everything()
    value = characteristics["LONG_VALUE"]
    await value.write_value(b"by request", with_response=True)
    await value.write_value(b"by command", with_response=False)
    await value.read_value()
    await value.write_value(database.LONG_BYTES[:100], with_response=True)
    await value.read_value()
    client = link.peer.gatt_client
    await client.send_request(att.ATT_Prepare_Write_Request(value.handle, 0, b"never executed"))
    await client.send_request(att.ATT_Execute_Write_Request(flags=0))
    await value.read_value()
    await characteristics["WRITE_ONLY"].write_value(b"", with_response=True)
    await link.end_by_central()


async def notifications(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    characteristics = await link.discover_everything()
    device = laboratory.peripheral
    for name in ("NOTIFYING", "INDICATING"):
        proxy = characteristics[name]
        values: asyncio.Queue[bytes] = asyncio.Queue()
        await proxy.subscribe(values.put_nowait)
        attribute = device.gatt_server.get_attribute(proxy.handle)
        assert attribute is not None
        for value in (b"", b"1", b"twenty bytes exactly", b"more than twenty bytes, so cut off"):
            if name == "NOTIFYING":
                await device.notify_subscriber(link.incoming, attribute, value)
            else:
                await device.indicate_subscriber(link.incoming, attribute, value)
            await asyncio.wait_for(values.get(), 10)
        await proxy.unsubscribe(values.put_nowait, force=True)
    await link.end_by_peripheral()


async def errors(laboratory: Laboratory) -> None:
    link = await laboratory.connect()
    characteristics = await link.discover_everything()
    handle = {name: proxy.handle for name, proxy in characteristics.items()}
    client = link.peer.gatt_client
    for request in (
        att.ATT_Read_Request(0x00FF),
        att.ATT_Read_Request(handle["WRITE_ONLY"]),
        att.ATT_Read_Request(handle["ENCRYPTED"]),
        att.ATT_Read_Blob_Request(handle["LONG_VALUE"], 301),
        att.ATT_Read_Blob_Request(handle["MODEL_NUMBER"], 1),
        att.ATT_Write_Request(handle["MODEL_NUMBER"], b"not writable"),
        att.ATT_Write_Request(handle["REFUSING"], b"refused by the application"),
        att.ATT_Prepare_Write_Request(0x00FF, 0, b"nowhere"),
        att.ATT_Find_Information_Request(0x0000, 0xFFFF),
        att.ATT_Find_Information_Request(0x0009, 0x0008),
        att.ATT_Find_By_Type_Value_Request(0x0001, 0xFFFF, att.UUID(0x2800), bytes.fromhex("0D18")),
        att.ATT_Read_By_Type_Request(0x0001, 0xFFFF, att.UUID(0x2AFF)),
        att.ATT_Read_By_Group_Type_Request(0x0001, 0xFFFF, att.UUID(0x2803)),
        att.ATT_Read_Multiple_Request([handle["MODEL_NUMBER"], 0x00FF]),
    ):
        response = await client.send_request(request)
        if response.op_code != att.Opcode.ATT_ERROR_RESPONSE:
            raise RuntimeError(f"no error came for {request}")
    await link.end_by_central()


async def connection_update(laboratory: Laboratory) -> None:
    link = await laboratory.connect()

    async def both_know_after(update: Awaitable[None]) -> None:
        event = Connection.EVENT_CONNECTION_PARAMETERS_UPDATE
        with (
            contextlib.closing(Waiter(link.outgoing, event)) as central,
            contextlib.closing(Waiter(link.incoming, event)) as peripheral,
        ):
            await update
            await central.value()
            await peripheral.value()

    await both_know_after(link.incoming.update_parameters(30, 50, 4, 4000, use_l2cap=True))
    await both_know_after(link.outgoing.update_parameters(15, 15, 0, 2000))
    await link.end_by_peripheral()


async def credit_based_channel(laboratory: Laboratory) -> None:
    """The receiver gives few credits and small segments, so the sender must wait for more."""
    received: asyncio.Queue[bytes] = asyncio.Queue()
    spec = l2cap.LeCreditBasedChannelSpec(psm=0x0080, mtu=256, mps=64, max_credits=4)

    def echo(channel: l2cap.LeCreditBasedChannel) -> None:
        channel.sink = channel.write

    laboratory.peripheral.create_l2cap_server(spec, echo)
    link = await laboratory.connect()
    channel = await link.outgoing.create_l2cap_channel(spec)
    channel.sink = received.put_nowait
    for length in (1, 62, 63, 256):
        sent = database.LONG_BYTES[:length]
        channel.write(sent)
        if await asyncio.wait_for(received.get(), 10) != sent:
            raise RuntimeError("the echo differs")
    await channel.disconnect()
    with contextlib.suppress(l2cap.L2capError):
        await link.outgoing.create_l2cap_channel(dataclasses.replace(spec, psm=0x0099))
        raise RuntimeError("a channel to an unsupported SPSM was accepted")
    await link.end_by_central()


async def enhanced_bearer(laboratory: Laboratory) -> None:
    link: Link = await laboratory.connect()
    await link.outgoing.pair()
    clients = await Client.connect_eatt(link.outgoing, count=2)
    for client in clients:
        await client.discover_services()
        await client.read_characteristics_by_uuid(database.MODEL_NUMBER, None)
    await link.end_by_central()


def pairing(name: str) -> Callable[[Laboratory], Awaitable[None]]:
    return lambda laboratory: pair_and_reconnect(laboratory, PAIRINGS[name])


SCENARIOS = [
    Scenario("advertising-legacy", "Advertising, active scanning and passive scanning on Core 4.2 controllers",
             advertising, extended=False),
    Scenario("advertising-extended", "Advertising, active scanning and passive scanning with the extended commands",
             advertising),
    Scenario("discovery",
             "Discovery of all services, services by UUID, includes, characteristics and descriptors; ATT_MTU 23",
             discovery),
    Scenario("mtu-exchange",
             "An exchange of ATT_MTU 185, then discovery and a long read; the peripheral ends the link", mtu_exchange),
    Scenario("reads",
             "Read, Read Blob, Read By Type (by UUID), Read Multiple and Read Multiple Variable Requests", reads),
    Scenario("writes",
             "A Write Request, a Write Command, a long write, a cancelled prepared write, and an empty write", writes),
    Scenario("notifications",
             "Notifications and indications, some of values that are too long; the peripheral ends the link",
             notifications),
    Scenario("errors", "Error Responses to requests that a server refuses", errors),
    Scenario("connection-update",
             "A change of connection parameters requested by the peripheral over L2CAP, then a change by the central",
             connection_update),
    Scenario("credit-based-channel",
             "An LE credit-based channel with an echo service, then a refused channel", credit_based_channel),
    Scenario("enhanced-bearer", "Two EATT bearers on an encrypted link", enhanced_bearer),
    *(Scenario(name, choice.summary, pairing(name)) for name, choice in PAIRINGS.items()),
]
