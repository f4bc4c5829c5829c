"""The fixtures of the kernel suite. Our side is on hci0, through its user channel; BlueZ is on hci1."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

import pytest
import pytest_asyncio

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from support.agent import Agent  # noqa: E402
from support.bluez import BlueZ  # noqa: E402
from support.l2cap import enable_enhanced_channels  # noqa: E402
from support.monitor import Monitor  # noqa: E402
from support.peripheral import Link, Peripheral  # noqa: E402
from support.processes import LOGS, RESULTS  # noqa: E402
from support.radio import Radio  # noqa: E402

OUTCOME = pytest.StashKey[pytest.TestReport]()
# The captures of cases that failed.
KEPT: list[str] = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Keeps the result of a case for the fixtures that clean up after it."""
    report = yield
    if report.failed or report.when == "call":
        item.stash[OUTCOME] = report
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints where the caller finds the captures."""
    for capture in KEPT:
        terminalreporter.write_line(f"the traffic of the adapters: {os.environ['KERNEL_ARTEFACTS']}/{capture}")


@pytest_asyncio.fixture(scope="session")
async def radio() -> AsyncIterator[Radio]:
    """Two adapters in range of each other."""
    radio = Radio()
    await radio.start()
    yield radio
    await radio.stop()


@pytest_asyncio.fixture(autouse=True)
async def plugged_in_again(radio: Radio) -> AsyncIterator[None]:
    """Restores the adapters for the next cases, and for a retry, after a case that failed while they were unplugged."""
    yield
    if not radio.is_plugged_in:
        await radio.stop()
        await radio.start()


@pytest_asyncio.fixture(scope="module")
async def daemon(radio: Radio) -> AsyncIterator[BlueZ]:
    """The daemon, without state from the cases of other files."""
    shutil.rmtree("/var/lib/bluetooth", ignore_errors=True)
    bluez = BlueZ()
    await bluez.start()
    yield bluez
    await bluez.stop()


@pytest_asyncio.fixture
async def bluez(daemon: BlueZ) -> BlueZ:
    """The daemon, with hci1 powered, and without devices: it does not report those it already knows."""
    await daemon.renewed("hci1")
    return daemon


@pytest.fixture
def enhanced_channels() -> Iterator[None]:
    """A kernel with enhanced credit-based channels. They are off again after the case."""
    enable_enhanced_channels(True)
    yield
    enable_enhanced_channels(False)


@pytest_asyncio.fixture(autouse=True)
async def capture(request: pytest.FixtureRequest, radio: Radio) -> AsyncIterator[None]:
    """Records the traffic; the capture is kept and printed with the logs if the case fails."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name).strip("-")
    directory = pathlib.Path("/run/captures")
    directory.mkdir(exist_ok=True)
    monitor = Monitor(directory / f"{name}.btsnoop")
    lengths = {log: log.stat().st_size for log in LOGS.iterdir()}
    await monitor.start()
    yield
    await monitor.stop()
    report = request.node.stash.get(OUTCOME, None)
    if report is None or report.failed:
        artefacts = RESULTS / name
        artefacts.mkdir(parents=True, exist_ok=True)
        shutil.move(monitor.path, artefacts / "all.btsnoop")
        for log in LOGS.iterdir():
            (artefacts / log.name).write_bytes(log.read_bytes()[lengths.get(log, 0):])
        KEPT.append(f"{name}/all.btsnoop")
    else:
        monitor.path.unlink()


AgentFactory = Callable[..., Awaitable[Agent]]


@pytest_asyncio.fixture
async def agents(radio: Radio) -> AsyncIterator[AgentFactory]:
    """Starts agents, and ends them with the case: `agent = await agents("hci-socket:0")`."""
    started: list[Agent] = []

    async def start(transport: str | None = "hci-socket:0", **options: object) -> Agent:
        agent = await Agent.start(f"agent{len(started)}")
        started.append(agent)
        if transport is not None:
            await agent("open", transport=transport, **options)
        return agent

    yield start
    for agent in started:
        await agent.stop()


@pytest_asyncio.fixture
async def agent(agents: AgentFactory) -> Agent:
    """Our library on hci0."""
    return await agents()


@pytest_asyncio.fixture(scope="module")
async def peripheral(daemon: BlueZ) -> AsyncIterator[Peripheral]:
    """Our library on hci0 as a peripheral that BlueZ on hci1 has found."""
    async with Peripheral.started(daemon) as peripheral:
        yield peripheral


@pytest_asyncio.fixture
async def link(peripheral: Peripheral) -> AsyncIterator[Link]:
    """BlueZ, connected to our peripheral."""
    async with peripheral.connected() as link:
        yield link
