"""`ble monitor` on the kernel's monitor channel: its text, and captures in the format that tshark reads."""

from __future__ import annotations

import pathlib
import struct

from support.processes import BINARIES, NOBODY, Process, output_of, until
from support.radio import Radio

BLE = BINARIES / "ble"


async def test_the_monitor_shows_what_another_program_does(radio: Radio) -> None:
    monitor = await Process.start("monitor", BLE, "monitor")
    # The kernel first says which adapters there are.
    await until(lambda: "New Index" in monitor.said(), "the adapters")
    start = len(monitor.said())
    for step in ("down", "up"):
        status, _, errors = await output_of("hciconfig", "hci0", step)
        assert status == 0, errors
    await until(lambda: "> CMD Reset" in monitor.said()[start:], "a reset")
    await until(lambda: "hci0" in monitor.said()[start:] and "< EVT Command Complete" in monitor.said()[start:], "an event")
    assert await monitor.stop() == 128 + 15


async def test_the_monitor_writes_a_capture(radio: Radio, tmp_path: pathlib.Path) -> None:
    capture = tmp_path / "monitor.btsnoop"
    monitor = await Process.start("capture", BLE, "monitor", "--btsnoop", capture)
    await until(lambda: capture.exists() and capture.stat().st_size > 16, "the adapters")
    before = capture.stat().st_size
    status, _, errors = await output_of("hciconfig", "hci0", "reset")
    assert status == 0, errors
    await until(lambda: capture.stat().st_size > before, "the reset")
    assert await monitor.stop() == 128 + 15
    header = capture.read_bytes()[:16]
    assert header == struct.pack(">8sII", b"btsnoop\0", 1, 2001)
    status, output, errors = await output_of(BLE, "decode", capture)
    assert (status, errors) == (0, "") and "CMD Reset" in output and "malformed" not in output


async def test_without_the_capability_it_says_what_to_do(radio: Radio) -> None:
    status, output, errors = await output_of(*NOBODY, BLE, "monitor")
    assert (status, output) == (5, "")
    assert errors == (
        "ble: monitor: not permitted to read the adapters' traffic; grant it: "
        f"sudo setcap cap_net_raw,cap_net_admin+ep {BLE.resolve()}\n")
