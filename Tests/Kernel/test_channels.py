"""Credit-based channels between `ble l2cap` and the kernel, in both roles and both modes."""

from __future__ import annotations

import asyncio
import contextlib
import pathlib
import random
from collections.abc import AsyncIterator

import pytest
from support.application import advertising
from support.bluez import BlueZ
from support.l2cap import (
    EXT_FLOWCTL,
    LE_FLOWCTL,
    LIBRARY,
    accept,
    call,
    channel_socket,
    exchange,
    socket_address,
)
from support.processes import BINARIES, TIMEOUT, Process, output_of, until
from support.radio import ADDRESSES

OURS, THEIRS = ADDRESSES
PSM = 0x80
# The kernel's MTU: SDUs of several K-frames, which it makes as long as a packet of the controller's.
MTU = 672
MODES = pytest.mark.parametrize("mode", [LE_FLOWCTL, EXT_FLOWCTL], ids=["LE credit-based", "enhanced"])
PAYLOADS = [random.Random(number).randbytes(20_000) for number in range(2)]


@contextlib.asynccontextmanager
async def ble(*arguments: str | pathlib.Path) -> AsyncIterator[Process]:
    """Our tool on hci0, with its standard input and output."""
    process = await Process.start("l2cap", BINARIES / "ble", "l2cap", *arguments, "--transport", "hci-socket:0", pipe=True)
    try:
        yield process
    finally:
        await process.kill()


async def carry(process: Process, octets: bytes) -> bytes:
    """Writes the tool's standard input, and reads the same amount from its standard output."""
    assert process.process.stdin and process.process.stdout
    process.process.stdin.write(octets)
    return await process.process.stdout.readexactly(len(octets))


def end_input(process: Process) -> None:
    """Ends the tool's standard input."""
    assert process.process.stdin
    process.process.stdin.write_eof()


@MODES
@pytest.mark.usefixtures("enhanced_channels")
async def test_the_kernel_opens_a_channel(bluez: BlueZ, tmp_path: pathlib.Path, mode: int) -> None:
    async with ble("--listen", hex(PSM), "--keep", "--bonds", tmp_path) as process:
        await until(lambda: "listening" in process.said(), "the service")
        with channel_socket(THEIRS, mode, MTU) as handle:
            await asyncio.to_thread(call, LIBRARY.connect, handle, socket_address(OURS, PSM))
            theirs, ours = await asyncio.wait_for(
                asyncio.gather(exchange(handle, PAYLOADS[0], 2000), carry(process, PAYLOADS[1])), TIMEOUT)
            end_input(process)
        assert (theirs, ours) == (PAYLOADS[1], PAYLOADS[0])
        # The kernel has closed it.
        assert await asyncio.wait_for(process.process.wait(), TIMEOUT) == 0


@MODES
@pytest.mark.usefixtures("enhanced_channels")
async def test_we_open_a_channel_to_the_kernel(bluez: BlueZ, tmp_path: pathlib.Path, mode: int) -> None:
    with channel_socket(THEIRS, mode, MTU, PSM) as listener:
        listener.listen(1)
        accepting = asyncio.ensure_future(asyncio.to_thread(accept, listener))
        options = ["--enhanced"] if mode == EXT_FLOWCTL else []
        async with advertising(bluez, "channels"), ble(
            THEIRS, hex(PSM), "--idle", "1", "--bonds", tmp_path, *options
        ) as process:
            with await asyncio.wait_for(accepting, TIMEOUT) as handle:
                theirs, ours = await asyncio.wait_for(
                    asyncio.gather(exchange(handle, PAYLOADS[0], MTU), carry(process, PAYLOADS[1])), TIMEOUT)
                assert (theirs, ours) == (PAYLOADS[1], PAYLOADS[0])
                # Only now, because from then on the tool waits only briefly for more.
                end_input(process)
                # We close it, when nothing comes any more.
                assert await asyncio.to_thread(handle.recv, 1) == b""
            assert await asyncio.wait_for(process.process.wait(), TIMEOUT) == 0


async def test_the_kernels_own_test_tool(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    """BlueZ's l2test sends SDUs of 500 octets, each with its number and its length, and closes the channel."""
    async with ble("--listen", hex(PSM), "--bonds", tmp_path) as process:
        await until(lambda: "listening" in process.said(), "the service")
        status, output, errors = await output_of(
            "l2test", "-s", "-i", "hci1", "-V", "le_public", "-P", str(PSM), "-b", "500", "-N", "40",
            OURS, timeout=2 * TIMEOUT)
        assert status == 0, output + errors
        assert process.process.stdout
        received = await asyncio.wait_for(process.process.stdout.read(), TIMEOUT)
    sdus = [received[start:start + 500] for start in range(0, len(received), 500)]
    assert [int.from_bytes(sdu[:4], "little") for sdu in sdus] == list(range(40))
    assert all(len(sdu) == int.from_bytes(sdu[4:6], "little") == 500 for sdu in sdus)


async def test_nobody_listens(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    async with advertising(bluez, "channels"):
        status, _, errors = await output_of(
            BINARIES / "ble", "l2cap", THEIRS, "0x90", "--transport", "hci-socket:0", "--bonds", tmp_path)
    assert (status, errors.splitlines()[-1:]) == (4, ["ble: the peer refused the channel: there is no such PSM"])
