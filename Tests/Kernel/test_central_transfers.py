"""Our library as a client of BlueZ's server: values read, written, notified and indicated."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.processes import until
from support.radio import ADDRESSES
from support.sample import Link, Sample, connect, numbered

# The longest value BlueZ accepts. Up to 5.66, it includes the handle and the offset of a request in the length.
LONGEST_WRITTEN = 512 - 4
BURST = 500
NOTIFICATIONS = 1000


@pytest_asyncio.fixture(scope="module")
async def sample(daemon: BlueZ) -> AsyncIterator[Sample]:
    await daemon.adapter("hci1")
    sample = Sample(daemon)
    async with sample.served():
        yield sample


@pytest_asyncio.fixture(scope="module", params=[23, 517], ids="MTU {}".format)
async def agent(request: pytest.FixtureRequest, sample: Sample) -> AsyncIterator[Agent]:
    """Our library on hci0, which requests this ATT_MTU: one that splits values, and one that fits any."""
    agent = await Agent.start("agent0")
    await agent("open", transport="hci-socket:0", mtu=request.param)
    yield agent
    await agent.stop()


@pytest_asyncio.fixture
async def link(request: pytest.FixtureRequest, sample: Sample, agent: Agent) -> AsyncIterator[Link]:
    link = await connect(agent, ADDRESSES[1])
    await link("discover")
    yield link
    await link("disconnect")
    await link.ended()


def lengths(mtu: int, longest: int = 512) -> list[int]:
    """Lengths that just fit into one PDU or several, and one less and one more."""
    edges = [count * size for size in (mtu - 1, mtu - 3, mtu - 5, 256) for count in (1, 2, longest // size)]
    around = {edge + more for edge in edges for more in (-1, 0, 1)}
    return sorted({length for length in around if 1 <= length <= longest} | {1, longest})


def content(length: int) -> bytes:
    return bytes((7 * index + index // 256) % 256 for index in range(length))


async def test_reads(link: Link, sample: Sample) -> None:
    for length in lengths(link.mtu):
        sample.value.value = content(length)
        answer = await link("read", handle=sample.value.handle)
        assert bytes.fromhex(answer["value"]) == sample.value.value
    sample.value.value = b""
    assert (await link("read", handle=sample.value.handle))["value"] == ""


async def test_writes(link: Link, sample: Sample) -> None:
    for length in lengths(link.mtu, LONGEST_WRITTEN):
        sample.value.value = b""
        await link("write", handle=sample.value.handle, value=content(length).hex())
        assert sample.value.value == content(length)


async def test_descriptors(link: Link, sample: Sample) -> None:
    description, other = sample.value.descriptors
    for length in (1, 22, 23, 100):
        await link("write", handle=other.handle, value=content(length).hex())
        assert other.value == content(length)
        assert bytes.fromhex((await link("read", handle=other.handle))["value"]) == content(length)
    assert bytes.fromhex((await link("read", handle=description.handle))["value"]) == description.value


async def test_writes_without_response_arrive_in_order(link: Link, sample: Sample) -> None:
    sample.commanded.written.clear()
    expected = numbered(BURST)
    await link("burst", handle=sample.commanded.handle, value=expected[0].hex(), count=BURST)
    await until(lambda: len(sample.commanded.written) >= BURST, f"{BURST} values")
    assert sample.commanded.written == expected


async def test_notifications_arrive_in_order(link: Link, sample: Sample) -> None:
    await link("subscribe", handle=sample.notifying.handle)
    await until(lambda: sample.notifying.is_notifying, "BlueZ to tell the application")
    expected = numbered(NOTIFICATIONS)
    await sample.notifying.send(sample.bluez, *expected)
    assert await link.values(sample.notifying.handle, NOTIFICATIONS) == expected


async def test_indications_arrive_in_order_and_are_confirmed(link: Link, sample: Sample) -> None:
    await link("subscribe", handle=sample.indicating.handle)
    sample.indicating.confirmations = 0
    expected = numbered(50)
    await sample.indicating.send(sample.bluez, *expected)
    assert await link.values(sample.indicating.handle, 50) == expected
    await until(lambda: sample.indicating.confirmations >= 50, "the confirmations")
    assert sample.indicating.confirmations == 50


async def test_a_subscription_that_has_ended_brings_nothing(link: Link, sample: Sample) -> None:
    handle = sample.notifying.handle
    for number in range(2):
        await link("subscribe", handle=handle)
        await sample.notifying.send(sample.bluez, b"%d" % number)
        assert await link.values(handle, 1) == [b"%d" % number]
        await link("unsubscribe", handle=handle)
        await link.agent.event("unsubscribed", connection=link.number, handle=handle, reason="unsubscribed")
        await until(lambda: not sample.notifying.is_notifying, "BlueZ to tell the application")
        await sample.notifying.send(sample.bluez, b"too late")
        # Values sent before BlueZ answered this would have arrived.
        await link("read", handle=sample.read_only.handle)
        assert not [event for event in link.agent.events if event["event"] == "value"]


async def refusal(link: Link, call: str, handle: int, **arguments: str) -> tuple[str, str]:
    """The error of a refused request: its kind, and the ATT error code."""
    with pytest.raises(AgentError) as refused:
        await link(call, handle=handle, **arguments)
    code = re.search(r"\((0x[0-9A-F]{2})\)$", str(refused.value))
    return refused.value.kind, code[1] if code else str(refused.value)


async def test_what_bluez_refuses(link: Link, sample: Sample) -> None:
    assert await refusal(link, "read", 0x0FF0) == ("att", "0x01")
    assert await refusal(link, "read", sample.write_only.handle) == ("att", "0x02")
    assert await refusal(link, "write", sample.read_only.handle, value="00") == ("att", "0x03")
    assert await refusal(link, "read", sample.encrypted.handle) == ("att", "0x0F")
    # The link is not affected.
    assert bytes.fromhex((await link("read", handle=sample.read_only.handle))["value"]) == b"fixed"


@pytest.mark.parametrize(
    ("name", "message", "read", "written"),
    [
        ("Failed", "", "0x0E", "0x0E"),
        ("Failed", "0x9c", "0x9C", "0x9C"),
        ("NotPermitted", "", "0x02", "0x03"),
        ("NotAuthorized", "", "0x08", "0x08"),
        ("NotSupported", "", "0x06", "0x06"),
        ("InvalidOffset", "", "0x07", "0x07"),
        ("InvalidValueLength", "", "0x0D", "0x0D"),
        ("InProgress", "", "0xFE", "0xFE"),
    ])
async def test_what_the_application_refuses(
    link: Link, sample: Sample, name: str, message: str, read: str, written: str
) -> None:
    sample.value.refusal = (name, message)
    try:
        assert await refusal(link, "read", sample.value.handle) == ("att", read)
        assert await refusal(link, "write", sample.value.handle, value="00") == ("att", written)
    finally:
        sample.value.refusal = None
