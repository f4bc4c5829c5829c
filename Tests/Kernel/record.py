"""Records the named captures of BlueZ with BlueZ, and with our library in either role, into $VM_RESULTS.

Runs in the machine; `Scripts/record-fixtures --only kernel` sees to that.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable

from bleak import BleakClient
from support import card, client
from support.agent import Agent
from support.bluez import BlueZ
from support.monitor import Monitor
from support.processes import RESULTS, until
from support.radio import ADDRESSES, Radio
from support.sample import UUID, Sample, connect

LONG = bytes(index % 251 for index in range(300))
VALUES = [b"first", b"second", b"third"]

Scenario = Callable[[BlueZ], Awaitable[None]]


async def use(
    central: BleakClient, value: str, notifying: str, indicating: str, send: Callable[[], Awaitable[None]]
) -> None:
    """BlueZ's actions as a client: long values both ways, then notifications and indications."""
    await central.write_gatt_char(value, LONG, response=True)
    assert bytes(await central.read_gatt_char(value)) == LONG
    received: list[bytes] = []
    for characteristic in (notifying, indicating):
        await central.start_notify(characteristic, lambda _, data: received.append(bytes(data)))
    await send()
    await until(lambda: sorted(received) == sorted(2 * VALUES), "all values")
    for characteristic in (notifying, indicating):
        await central.stop_notify(characteristic)


async def bluez_to_bluez(bluez: BlueZ) -> None:
    sample = Sample(bluez)

    async def send() -> None:
        await sample.notifying.send(bluez, *VALUES)
        await sample.indicating.send(bluez, *VALUES)

    async with sample.served():
        device = await client.found(card.SERVICE, adapter="hci0")
        async with client.connected(device, adapter="hci0") as central:
            await use(central, sample.value.uuid, sample.notifying.uuid, sample.indicating.uuid, send)


@contextlib.asynccontextmanager
async def our_agent() -> AsyncIterator[Agent]:
    """Our library on hci0, with an ATT_MTU that long values do not fit in."""
    agent = await Agent.start()
    await agent("open", transport="hci-socket:0", name="Ours", mtu=65)
    yield agent
    await agent.stop()


async def bluez_to_ours(bluez: BlueZ) -> None:
    async with our_agent() as agent:
        published = await agent("publish", service={"uuid": UUID.format(0), "characteristics": [
            {"uuid": UUID.format(1), "properties": 0x0A},
            {"uuid": UUID.format(2), "properties": 0x10},
            {"uuid": UUID.format(3), "properties": 0x20}]})
        _, notifying, indicating = [c["handle"] for c in published["service"]["characteristics"]]

        async def send() -> None:
            for value in VALUES:
                await agent("notify", handle=notifying, value=value.hex())
                await agent("indicate", handle=indicating, value=value.hex())

        await agent("advertise", name="Ours", services=[UUID.format(0)])
        device = await client.found(UUID.format(0))
        async with client.connected(device) as central:
            await use(central, *(UUID.format(number) for number in (1, 2, 3)), send)


async def ours_to_bluez(bluez: BlueZ) -> None:
    sample = Sample(bluez)
    async with sample.served(), our_agent() as agent:
        link = await connect(agent, ADDRESSES[1])
        await link("discover")
        await link("write", handle=sample.value.handle, value=LONG.hex())
        assert bytes.fromhex((await link("read", handle=sample.value.handle))["value"]) == LONG
        for characteristic in (sample.notifying, sample.indicating):
            await link("subscribe", handle=characteristic.handle)
            await characteristic.send(bluez, *VALUES)
            assert await link.values(characteristic.handle, 3) == VALUES
            await link("unsubscribe", handle=characteristic.handle)
        await link("disconnect")


SCENARIOS: dict[str, Scenario] = {
    "bluez-to-bluez": bluez_to_bluez,
    "bluez-to-ours": bluez_to_ours,
    "ours-to-bluez": ours_to_bluez,
}


async def main(names: list[str]) -> None:
    radio, bluez = Radio(), BlueZ()
    await radio.start()
    await bluez.start()
    for name in names:
        for adapter in ("hci0", "hci1"):
            await bluez.adapter(adapter)
            await bluez.forget_devices(adapter)
        monitor = Monitor(RESULTS / f"{name}.btsnoop")
        await monitor.start()
        await SCENARIOS[name](bluez)
        await monitor.stop()
    await bluez.stop()
    await radio.stop()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
