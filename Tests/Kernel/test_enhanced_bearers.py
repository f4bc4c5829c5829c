"""Links of our central to BlueZ where the kernel has enhanced credit-based channels.

That a request goes over an enhanced ATT bearer is tried with Bumble instead: Linux 6.1 and bluetoothd 5.66 answer over another bearer
than they were asked on, in about every other run.
"""

from __future__ import annotations

import pathlib
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import AgentFactory
from support.bluez import BlueZ
from support.monitor import Monitor
from support.pairing import leave
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
    """BlueZ asks for bearers as soon as it reads that there are some, and ends links that cannot be encrypted for them."""
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
