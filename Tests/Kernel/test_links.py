"""Several links of one adapter at once, in either role."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest_asyncio
from conftest import AgentFactory
from support.agent import Agent
from support.bluez import BlueZ
from support.processes import until
from support.radio import ADDRESSES, Radio
from support.sample import UUID, Link, Sample, connect, numbered

COUNT = 200
SERVICE = UUID.format(0)


@pytest_asyncio.fixture(scope="module")
async def four(radio: Radio, daemon: BlueZ) -> AsyncIterator[BlueZ]:
    """The daemon, with four adapters of which hci1 is powered."""
    await radio.stop()
    await radio.start(4)
    for number in range(4):
        await daemon.adapter(f"hci{number}")
    yield daemon
    await radio.stop()
    await radio.start()


class Server:
    """A peripheral of ours: an agent that publishes a value to write and one to be notified of."""

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


async def test_a_central_of_three_peripherals(four: BlueZ, agents: AgentFactory) -> None:
    central, *others = [await agents(f"hci-socket:{number}") for number in (0, 2, 3)]
    servers = [await Server.publish(agent) for agent in others]
    sample = Sample(four)
    async with sample.served():
        links = [await connect(central, ADDRESSES[number]) for number in (1, 2, 3)]
        await asyncio.gather(*(link("discover") for link in links))
        await asyncio.gather(
            exchange(sample, links[0]), *(server.exchange(link) for server, link in zip(servers, links[1:], strict=True)))
        # One ends; the others go on as if nothing had been.
        await links[1]("disconnect")
        await links[1].ended()
        await servers[0].agent.event("disconnected")
        await asyncio.gather(exchange(sample, links[0]), servers[1].exchange(links[2]))
        assert not [event for event in central.events if event["event"] == "disconnected"]
        # It comes back beside them.
        await servers[0].agent("advertise", name="Ours", services=[SERVICE])
        links[1] = await connect(central, ADDRESSES[2])
        await links[1]("discover")
        await asyncio.gather(exchange(sample, links[0]), servers[0].exchange(links[1]))
        for link in links:
            await link("disconnect")


async def test_links_that_are_made_at_the_same_time(four: BlueZ, agents: AgentFactory) -> None:
    central, *others = [await agents(f"hci-socket:{number}") for number in (0, 2, 3)]
    for agent in others:
        await Server.publish(agent)
    answers = await asyncio.gather(*(central("connect", address=f"{ADDRESSES[number]}/P") for number in (2, 3)))
    assert len({answer["connection"] for answer in answers}) == 2
    for answer in answers:
        await central("disconnect", connection=answer["connection"])


async def test_a_central_that_is_a_peripheral_as_well(four: BlueZ, agents: AgentFactory) -> None:
    middle, peripheral, central = [await agents(f"hci-socket:{number}") for number in (0, 2, 3)]
    below, above = await Server.publish(peripheral), await Server.publish(middle)
    down = await connect(middle, ADDRESSES[2])
    up = await connect(central, ADDRESSES[0])
    await asyncio.gather(down("discover"), up("discover"))
    await asyncio.gather(below.exchange(down), above.exchange(up))
    # Either link ends without the other.
    await up("disconnect")
    await middle.event("disconnected")
    await below.exchange(down)
    await middle("advertise", name="Ours", services=[SERVICE])
    up = await connect(central, ADDRESSES[0])
    await up("discover")
    await down("disconnect")
    await above.exchange(up)
    await up("disconnect")
