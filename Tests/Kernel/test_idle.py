"""Waiting uses no processor time."""

from __future__ import annotations

import asyncio
import pathlib

from conftest import AgentFactory
from support.agent import Agent

SECONDS = 10


def activity(process: int) -> dict[str, tuple[int, int]]:
    """The activity of each thread of a process so far: how often it has gone to sleep, or been preempted,
    and how many ticks of processor time it has used.

    Without the threads of libdispatch, whose pool runs Swift's tasks: once a second one of them maintains that pool,
    whatever the program does. They do not have the name of the program.
    """
    name = pathlib.Path(f"/proc/{process}/comm").read_text()
    done = {}
    for thread in pathlib.Path(f"/proc/{process}/task").iterdir():
        if (thread / "comm").read_text() == name:
            lines = (thread / "status").read_text().splitlines()
            fields = (thread / "stat").read_text().rpartition(")")[2].split()
            switches = sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
            done[thread.name] = switches, int(fields[11]) + int(fields[12])
    return done


async def settled(process: int) -> None:
    """Waits until a process has been idle for half a second."""
    while True:
        before = activity(process)
        await asyncio.sleep(0.5)
        if activity(process) == before:
            return


async def test_a_link_on_which_nothing_happens_wakes_nobody(agents: AgentFactory) -> None:
    one: Agent = await agents("hci-socket:0")
    other: Agent = await agents("hci-socket:1")
    peer = (await other("information"))["address"]
    await other("advertise", name="idle")
    await one("connect", address=peer)
    await other("stopAdvertising")
    processes = [agent.process.process.pid for agent in (one, other)]
    for process in processes:
        await settled(process)
    before = [activity(process) for process in processes]
    await asyncio.sleep(SECONDS)
    assert [activity(process) for process in processes] == before
    # The link was there all the time, and still is.
    assert not [event for event in one.events + other.events if event["event"] == "disconnected"]
    assert (await one("mtu", connection=1))["mtu"] > 23
    await one("disconnect", connection=1)
