"""Several links of one adapter at once, in either role.

Over our own radio: the controllers of BlueZ's emulator, in 5.66, mix up the handles of links. They tell the peripheral
the central's handle, so that a second link of one side works only where it is the second of the other side as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio
from conftest import AgentFactory
from support.agent import Agent
from support.bluez import BlueZ
from support.processes import until
from support.radio import OUR_ADDRESSES, OurRadio
from support.sample import UUID, Link, Sample, connect, numbered

COUNT = 100
SERVICE = UUID.format(0)


@pytest_asyncio.fixture(scope="module")
async def air(daemon: BlueZ) -> AsyncIterator[OurRadio]:
    """Four adapters in range of each other. The second is BlueZ's."""
    radio = await OurRadio.start(4)
    for name in radio.adapters:
        await daemon.adapter(name)
    yield radio
    await radio.stop()


@pytest_asyncio.fixture
async def three(air: OurRadio, agents: AgentFactory) -> list[Agent]:
    """Our library on the first, the third and the fourth adapter."""
    return [await agents(f"hci-socket:{air.adapters[number].removeprefix('hci')}") for number in (0, 2, 3)]


class Server:
    """Our peripheral: an agent that publishes a writable value and one that notifies."""

    def __init__(self, agent: Agent, value: int, notifying: int) -> None:
        self.agent = agent
        self.value = value
        self.notifying = notifying

    @classmethod
    async def publish(cls, agent: Agent) -> Server:
        published = await agent("publish", service={"uuid": SERVICE, "characteristics": [
            {"uuid": UUID.format(1), "properties": 0x04}, {"uuid": UUID.format(2), "properties": 0x10}]})
        handles = [characteristic["handle"] for characteristic in published["service"]["characteristics"]]
        await agent("advertise", name="Ours", services=[SERVICE])
        return cls(agent, *handles)

    async def notify(self) -> list[bytes]:
        """Notifies values, and returns them."""
        await self.agent("notify", handle=self.notifying, value="5a" * 16, count=COUNT)
        return [b"\x5A" * 16 + number.to_bytes(4, "little") for number in range(COUNT)]

    async def written(self) -> list[bytes]:
        return [
            bytes.fromhex((await self.agent.event("written", handle=self.value))["value"]) for _ in range(COUNT)]

    async def exchange(self, link: Link) -> None:
        """Sends values both ways at once; all arrive, in order."""
        sent = numbered(COUNT)
        await link("subscribe", handle=self.notifying)
        await self.agent.event("subscribed", handle=self.notifying)
        _, notified = await asyncio.gather(
            link("burst", handle=self.value, value=sent[0].hex(), count=COUNT), self.notify())
        assert await link.values(self.notifying, COUNT) == notified
        assert await self.written() == sent
        await link("unsubscribe", handle=self.notifying)
        await self.agent.event("unsubscribed", handle=self.notifying)


async def exchange(sample: Sample, link: Link) -> None:
    """The same with BlueZ as the server."""
    sample.commanded.written.clear()
    values = numbered(COUNT)
    await link("subscribe", handle=sample.notifying.handle)
    await asyncio.gather(
        link("burst", handle=sample.commanded.handle, value=values[0].hex(), count=COUNT),
        sample.notifying.send(sample.bluez, *values))
    assert await link.values(sample.notifying.handle, COUNT) == values
    await until(lambda: len(sample.commanded.written) >= COUNT, "all values")
    assert sample.commanded.written == values
    await link("unsubscribe", handle=sample.notifying.handle)


async def test_a_central_of_three_peripherals(air: OurRadio, daemon: BlueZ, three: list[Agent]) -> None:
    central, *others = three
    servers = [await Server.publish(agent) for agent in others]
    sample = Sample(daemon)
    async with sample.served(air.adapters[1]):
        links = [await connect(central, address) for address in OUR_ADDRESSES[1:]]
        await asyncio.gather(*(link("discover") for link in links))
        await asyncio.gather(
            exchange(sample, links[0]), servers[0].exchange(links[1]), servers[1].exchange(links[2]))

        # One ends; the others are not affected.
        await links[1]("disconnect")
        assert await links[1].ended() == "this device ended the connection"
        assert (await servers[0].agent.event("disconnected"))["reason"] == "the peer ended the connection"
        await asyncio.gather(exchange(sample, links[0]), servers[1].exchange(links[2]))
        assert not [event for event in central.events if event["event"] == "disconnected"]

        # It connects again.
        links[1] = await connect(central, OUR_ADDRESSES[2])
        await links[1]("discover")
        await asyncio.gather(exchange(sample, links[0]), servers[0].exchange(links[1]))

        # One is lost silently: its process is killed, upon which the kernel resets its controller.
        await others[1].kill()
        await asyncio.gather(exchange(sample, links[0]), servers[0].exchange(links[1]))
        assert await links[2].ended() == "nothing was received from the peer (supervision timeout)"
        for link in links[:2]:
            await link("disconnect")


async def test_links_that_are_made_at_the_same_time(three: list[Agent]) -> None:
    central, *others = three
    servers = [await Server.publish(agent) for agent in others]
    answers = await asyncio.gather(*(central("connect", address=f"{address}/P") for address in OUR_ADDRESSES[2:]))
    links = [Link(central, answer["connection"], answer["mtu"]) for answer in answers]
    assert len({link.number for link in links}) == 2
    await asyncio.gather(*(link("discover") for link in links))
    await asyncio.gather(*(server.exchange(link) for server, link in zip(servers, links, strict=True)))
    for link in links:
        await link("disconnect")


async def test_a_central_that_is_a_peripheral_as_well(three: list[Agent]) -> None:
    middle, peripheral, central = three
    below, above = await Server.publish(peripheral), await Server.publish(middle)
    down = await connect(middle, OUR_ADDRESSES[2])
    up = await connect(central, OUR_ADDRESSES[0])
    await asyncio.gather(down("discover"), up("discover"))
    await asyncio.gather(below.exchange(down), above.exchange(up))

    # Either link can end without the other.
    await up("disconnect")
    await middle.event("disconnected")
    await below.exchange(down)
    up = await connect(central, OUR_ADDRESSES[0])
    await up("discover")
    await down("disconnect")
    await above.exchange(up)
    await up("disconnect")
