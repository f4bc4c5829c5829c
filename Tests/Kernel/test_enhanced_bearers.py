"""Links from our central to BlueZ, if the kernel has enhanced credit-based channels and BlueZ uses bearers on them."""

from __future__ import annotations

import asyncio
import pathlib
import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import AgentFactory
from support.bluez import BlueZ
from support.monitor import Monitor
from support.pairing import JUST_WORKS, leave, paired, person
from support.processes import BINARIES, output_of
from support.radio import ADDRESSES
from support.sample import Sample, connect

THEIRS = ADDRESSES[1]
# What BlueZ does for its bearers is over long before so many have been answered.
READS = 100


@pytest_asyncio.fixture(scope="module")
async def sample(daemon: BlueZ) -> AsyncIterator[Sample]:
    await daemon.adapter("hci1")
    sample = Sample(daemon)
    async with sample.served():
        yield sample


@pytest.mark.usefixtures("enhanced_channels")
async def test_a_link_in_the_clear_has_no_bearers(
    agents: AgentFactory, bluez: BlueZ, sample: Sample, tmp_path: pathlib.Path
) -> None:
    """BlueZ requests bearers once it reads that we support them, and disconnects links that cannot be encrypted."""
    agent = await agents()
    monitor = Monitor(tmp_path / "clear.btsnoop")
    await monitor.start()
    link = await connect(agent, THEIRS)
    for _ in range(READS):
        assert bytes.fromhex((await link("read", handle=sample.value.handle))["value"]) == sample.value.value
    await leave(link)
    await monitor.stop()
    _, said, _ = await output_of(BINARIES / "ble", "decode", monitor.path)
    assert "ATT_READ_BY_TYPE_REQ handles 0x0001...0xFFFF type 2B3A" in said, "BlueZ asks what there is"
    assert "L2CAP_CREDIT_BASED_CONNECTION_REQ" not in said


@pytest.mark.usefixtures("enhanced_channels")
async def test_requests_go_over_the_bearers_of_an_encrypted_link(
    agents: AgentFactory, bluez: BlueZ, sample: Sample, tmp_path: pathlib.Path
) -> None:
    """Linux may list the channels of one request in another order than requested, and then answers on other ones."""
    agent = await agents()
    monitor = Monitor(tmp_path / "bearers.btsnoop")
    await monitor.start()
    async with person(JUST_WORKS) as shell:
        link = await paired(agent, shell, JUST_WORKS)
        for _ in range(READS):
            values = await asyncio.gather(
                *(link("read", handle=attribute.handle) for attribute in (sample.value, sample.encrypted, sample.battery)))
            assert [bytes.fromhex(value["value"]) for value in values] == [
                sample.value.value, sample.encrypted.value, sample.battery.value]
        await leave(link)
    await monitor.stop()
    _, said, _ = await output_of(BINARIES / "ble", "decode", monitor.path)
    ours = [line for line in said.splitlines() if line.startswith("hci0 ")]
    assert sum("L2CAP_CREDIT_BASED_CONNECTION_RSP" in line for line in ours) == 2, "one bearer is asked for after the other"
    channels = {match[1] for line in ours if (match := re.search(r"(\S+) ATT_READ_REQ", line))}
    assert len(channels) == 3, "the fixed channel and two bearers"
