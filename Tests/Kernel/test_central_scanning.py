"""Advertising started with `btmgmt`, as reported by our library."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.agent import Agent, AgentError
from support.bluez import BlueZ
from support.processes import TIMEOUT, output_of
from support.radio import ADDRESSES


async def manage(*arguments: str) -> None:
    """A command of the kernel's management interface, for hci1."""
    status, output, errors = await output_of("btmgmt", "-i", "hci1", *arguments)
    assert status == 0, output + errors


@contextlib.asynccontextmanager
async def managed(before: list[str], after: list[str]) -> AsyncIterator[None]:
    await manage(*before)
    try:
        yield
    finally:
        await manage(*after)


async def sighting(agent: Agent, name: str) -> dict[str, Any]:
    """The first sighting of this name with a scan response."""
    scanning = agent.begin("scan", name=name)
    async with asyncio.timeout(TIMEOUT):
        found = {"scanResponse": ""}
        while not found["scanResponse"]:
            found = await agent.event("sighting")
    await agent("stopScan")
    with pytest.raises(AgentError, match="cancelled"):
        await scanning
    return found


async def test_advertising_data_comes_octet_for_octet(bluez: BlueZ, agent: Agent) -> None:
    # A name, a manufacturer's data, and a service's. The kernel puts the flags before it.
    data = "06095175C3A96F" + "06FF0F00010203" + "05160F180102"
    response = "0AFFFFFF01020304050607" + "11079ECADC240EE5A9E093F3A3B50100406E"
    async with managed(["add-adv", "-c", "-g", "-d", data, "-s", response, "1"], ["rm-adv", "1"]):
        found = await sighting(agent, "Qu\u00e9o")
    assert (found["data"], found["scanResponse"]) == ("020106" + data, response)
    assert found["address"] == f"{ADDRESSES[1]}/P"


async def test_what_the_kernel_advertises_by_itself(bluez: BlueZ, agent: Agent) -> None:
    name = (await bluez.objects())["/org/bluez/hci1"]["org.bluez.Adapter1"]["Name"]
    async with managed(["advertising", "on"], ["advertising", "off"]):
        found = await sighting(agent, name)
    # Flags and transmit power.
    assert found["data"] == "020104" + "020A00"
    assert bytes.fromhex(found["scanResponse"]) == bytes([len(name) + 1, 0x09]) + name.encode()
    # Advertising that is not connectable uses a temporary address.
    assert found["address"].endswith("/R")
