"""Connecting to a device that does not answer, on adapters whose controllers wait for a peer: those of our radio."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from conftest import AgentFactory
from support.agent import AgentError
from support.processes import TIMEOUT
from support.radio import OurRadio

# An address without a device.
ABSENT = "00:AA:01:09:00:09/P"


@pytest_asyncio.fixture
async def our_radio() -> AsyncIterator[OurRadio]:
    radio = await OurRadio.start()
    yield radio
    await radio.stop()


async def test_it_ends_in_time_or_when_it_is_cancelled(our_radio: OurRadio, agents: AgentFactory) -> None:
    central, peripheral = [await agents(f"hci-socket:{name.removeprefix('hci')}") for name in our_radio.adapters]
    with pytest.raises(AgentError) as failure:
        await central("connect", address=ABSENT, timeout=0.5)
    assert failure.value.kind == "timedOut"

    for _ in range(3):
        connecting = central.begin("connect", address=ABSENT, timeout=10 * TIMEOUT)
        await central("information")
        await central.cancel(connecting)
        with pytest.raises(AgentError) as failure:
            await connecting
        assert failure.value.kind == "cancelled"

    # Devices that are present, or appear in the meantime, can be connected.
    peer = (await peripheral("information"))["address"]
    connecting = central.begin("connect", address=peer, timeout=TIMEOUT)
    absent = central.begin("connect", address=ABSENT, timeout=10 * TIMEOUT)
    await peripheral("advertise", name="late")
    link = (await connecting)["connection"]
    await central.cancel(absent)
    with pytest.raises(AgentError) as failure:
        await absent
    assert failure.value.kind == "cancelled"
    await central("disconnect", connection=link)
    assert set(central.answered.values()) == {1}
