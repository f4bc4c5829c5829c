"""The recipe for a desktop's programs, as Documentation/Recipes.md prints it."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import signal
import sys

import pytest
from support.bluez import BlueZ
from support.processes import BINARIES, Process, output_of, until
from support.radio import present

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "Scripts/python"))

from recipes import recipes  # noqa: E402


# A report that arrives before the kernel considers the scan started is dropped, and the controller filters duplicates.
@pytest.mark.flaky(
    reruns=2, reason="the kernel drops the only report of a device if it arrives just as the scan begins")
async def test_bleak_reads_a_device_from_a_file(daemon: BlueZ, tmp_path: pathlib.Path) -> None:
    text = recipes()
    (tmp_path / "battery.json").write_text(text["battery.json"])
    # Here is nobody but root, and the driver is loaded.
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, script in (("sudo", 'exec "$@"'), ("modprobe", "exit 0")):
        (commands / name).write_text(f"#!/bin/sh\n{script}\n")
        (commands / name).chmod(0o755)
    path = f"{commands}:{BINARIES}:{os.environ['PATH']}"
    before = set(present())
    # Its programs go on in the background, so it is ended with its session.
    shell = await Process.start(
        "desktop", "setsid", "env", f"PATH={path}", "bash", "-euc", f"cd {tmp_path}\n{text['desktop']}\nwait")
    try:
        await until(lambda: re.search(r"vhci: hci\d+", shell.said()) and set(present()) - before, "a virtual adapter")
        for name in set(present()) - before:
            await daemon.adapter(name)
        # bleak takes the first that is powered, which on a desktop is the only one.
        for name in before:
            with contextlib.suppress(RuntimeError):
                await daemon.power(name, False)
        (tmp_path / "read.py").write_text(text["desktop.py"])
        status, output, errors = await output_of(sys.executable, tmp_path / "read.py", timeout=60)
        assert (status, output) == (0, "87 %\n"), errors + shell.said()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(shell.process.pid, signal.SIGTERM)
        await shell.process.wait()
        await until(lambda: not set(present()) - before, "the adapter to go")
        for name in before:
            with contextlib.suppress(RuntimeError):
                await daemon.power(name, True)
