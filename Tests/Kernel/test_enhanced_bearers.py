"""Enhanced ATT bearers between our library and BlueZ, over the kernel's enhanced credit-based channels."""

from __future__ import annotations

import contextlib
import pathlib
import re
from collections.abc import AsyncIterator, Callable

import pytest_asyncio
from conftest import AgentFactory
from support.bluez import BlueZ
from support.l2cap import enable_enhanced_channels
from support.monitor import Monitor
from support.pairing import JUST_WORKS, leave, paired, person
from support.processes import BINARIES, output_of
from support.radio import ADDRESSES
from support.sample import Sample, connect

THEIRS = ADDRESSES[1]
# Far more than are needed until the bearers are there.
READS = 100


@pytest_asyncio.fixture(scope="module")
async def sample(daemon: BlueZ) -> AsyncIterator[Sample]:
    await daemon.adapter("hci1")
    sample = Sample(daemon)
    async with sample.served():
        yield sample


@contextlib.asynccontextmanager
async def decoded(capture: pathlib.Path) -> AsyncIterator[Callable[[], str]]:
    """What goes over the adapters, once that is over."""
    monitor = Monitor(capture)
    await monitor.start()
    text = ""
    yield lambda: text
    await monitor.stop()
    _, text, _ = await output_of(BINARIES / "ble", "decode", capture)


async def test_our_client_asks_for_bearers(
    agents: AgentFactory, bluez: BlueZ, sample: Sample, tmp_path: pathlib.Path
) -> None:
    enable_enhanced_channels()
    agent = await agents()
    async with decoded(tmp_path / "bearers.btsnoop") as said, person(JUST_WORKS) as shell:
        await leave(await paired(agent, shell, JUST_WORKS))
        link = await connect(agent, THEIRS)
        for _ in range(READS):
            assert bytes.fromhex((await link("read", handle=sample.encrypted.handle))["value"]) == sample.encrypted.value
        await leave(link)
    assert re.search(r"hci0 \S+ > .* L2CAP_CREDIT_BASED_CONNECTION_REQ .* SPSM 39 ", said()), "bearers are asked for"
    assert re.search(r"hci0 \S+ < .* L2CAP_CREDIT_BASED_CONNECTION_RSP .* result 0x0000 ", said()), "and granted"
    assert re.search(r"hci0 \S+ > .* EATT \S+ ATT_READ_REQ ", said()), "a request goes over one"
    assert re.search(r"hci0 \S+ < .* EATT \S+ ATT_READ_RSP ", said()), "and is answered there"


async def test_a_link_in_the_clear_has_none(
    agents: AgentFactory, bluez: BlueZ, sample: Sample, tmp_path: pathlib.Path
) -> None:
    """BlueZ asks for bearers as soon as it reads that there are some, and ends links that cannot be encrypted for them."""
    enable_enhanced_channels()
    agent = await agents()
    async with decoded(tmp_path / "clear.btsnoop") as said:
        link = await connect(agent, THEIRS)
        for _ in range(READS):
            assert bytes.fromhex((await link("read", handle=sample.value.handle))["value"]) == sample.value.value
        await leave(link)
    assert "ATT_READ_BY_TYPE_REQ handles 0x0001...0xFFFF type 2B3A" in said(), "BlueZ asks what there is"
    assert "L2CAP_CREDIT_BASED_CONNECTION_REQ" not in said()
