"""An application with a characteristic for each client procedure, for BlueZ to serve."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

from support import card
from support.agent import Agent
from support.application import Characteristic, Descriptor, Service, advertising, serving
from support.bluez import BlueZ

NAME = "Sample"
UUID = "{:08x}-4c1b-4e54-9e9c-5f0c2b7a1d3e"


class Sample:
    """The application, and the BlueZ that serves it."""

    def __init__(self, bluez: BlueZ) -> None:
        self.bluez = bluez
        # BlueZ answers a Write Request before the application has seen it if write without response is allowed as well.
        self.value = Characteristic(
            UUID.format(1), "read", "write", value=b"at first",
            descriptors=[Descriptor("2901", b"A value"), Descriptor(UUID.format(2), b"", "read", "write")])
        self.notifying = Characteristic(UUID.format(3), "read", "notify")
        self.indicating = Characteristic(UUID.format(4), "indicate")
        self.read_only = Characteristic(UUID.format(5), "read", value=b"fixed")
        self.write_only = Characteristic(UUID.format(6), "write")
        self.commanded = Characteristic(UUID.format(9), "write-without-response")
        self.encrypted = Characteristic(UUID.format(7), "encrypt-read", value=b"a secret")
        self.authenticated = Characteristic(UUID.format(10), "encrypt-authenticated-read", value=b"a better kept secret")
        self.battery = Characteristic("2a19", "read", "notify", value=bytes([87]))
        self.card = Characteristic(card.CHARACTERISTIC, "notify")
        self.service = Service(
            UUID.format(0), self.value, self.notifying, self.indicating, self.read_only, self.write_only,
            self.commanded, self.encrypted, self.authenticated)
        self.services = [
            self.service, Service("180f", self.battery), Service(card.SERVICE, self.card)]
        self.secondary = Service(UUID.format(8), is_primary=False)

    @contextlib.asynccontextmanager
    async def served(self, adapter: str = "hci1") -> AsyncIterator[None]:
        """Makes BlueZ serve it, and advertise the card service."""
        async with (serving(self.bluez, *self.services, self.secondary, adapter=adapter),
                    advertising(self.bluez, NAME, card.SERVICE, adapter=adapter)):
            yield

    async def send_card(self, content: bytes) -> None:
        """Sends a card to its subscribers."""
        parts = [content[start:start + 20] for start in range(0, len(content), 20)]
        await self.card.send(self.bluez, *parts, b"EOM")


class Link:
    """A connection of an agent."""

    def __init__(self, agent: Agent, number: int, mtu: int) -> None:
        self.agent = agent
        self.number = number
        self.mtu = mtu

    async def __call__(self, call: str, **arguments: Any) -> dict[str, Any]:
        return await self.agent(call, connection=self.number, **arguments)

    async def values(self, handle: int, count: int) -> list[bytes]:
        """The next values that are notified or indicated."""
        return [
            bytes.fromhex((await self.agent.event("value", connection=self.number, handle=handle))["value"])
            for _ in range(count)]

    async def ended(self) -> str:
        """Waits for the end, and returns its reason."""
        return (await self.agent.event("disconnected", connection=self.number))["reason"]


async def connect(agent: Agent, address: str, **arguments: Any) -> Link:
    """Connects an agent to a public address.

    Not before something was received from it: btvirt does not wait for a peer that does not advertise, and BlueZ takes a
    while to advertise again after a link has ended.
    """
    await agent("firstSighting", address=f"{address}/P")
    answer = await agent("connect", address=f"{address}/P", **arguments)
    return Link(agent, answer["connection"], answer["mtu"])


def numbered(count: int, length: int = 20) -> list[bytes]:
    """Numbered values."""
    return [number.to_bytes(4, "little").ljust(length, b"\xA5") for number in range(count)]
