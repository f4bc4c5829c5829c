"""Adapters as users see them: listed, chosen, taken, and returned in their original state."""

from __future__ import annotations

import contextlib
import json
import pathlib
import signal
from collections.abc import AsyncIterator

import pytest
from support.processes import ADMINISTRATOR, BINARIES, NOBODY, Process, output_of, until
from support.radio import ADDRESSES, Radio, present, switched_off

BLE = BINARIES / "ble"


async def adapters() -> dict[str, str]:
    """The state of each adapter in the output of `ble adapters`."""
    status, output, errors = await output_of(BLE, "adapters", "--json")
    assert status == 0, errors
    return {adapter["name"]: adapter["state"] for adapter in json.loads(output)}


async def set_up(name: str, is_up: bool) -> None:
    await output_of("hciconfig", name, "up" if is_up else "down")


@contextlib.asynccontextmanager
async def scanning(transport: str, *before: str) -> AsyncIterator[Process]:
    """`ble scan` on an adapter, once it holds the adapter."""
    scan = await Process.start("scan", *before, BLE, "scan", "--transport", transport)
    try:
        await until(lambda: pathlib.Path(f"/proc/{scan.process.pid}").exists(), "ble scan")
        # The kernel reports who holds an adapter.
        for _ in range(400):
            if "held" in (await adapters()).values() or not scan.is_running:
                break
        yield scan
    finally:
        if scan.is_running:
            await scan.stop()


async def refusal(*command: object) -> str:
    """The single line printed by a program that cannot open its adapter."""
    status, output, errors = await output_of(*map(str, command))
    assert (status, output, errors.count("\n")) == (5, "", 1), (status, output, errors)
    return errors.rstrip("\n")


async def test_adapters_are_listed(radio: Radio) -> None:
    for name in ("hci0", "hci1"):
        await set_up(name, False)
    await set_up("hci1", True)
    status, output, _ = await output_of(BLE, "adapters")
    assert status == 0
    assert [line.split() for line in output.splitlines()] == [
        ["hci0", ADDRESSES[0], "virtual", "down"], ["hci1", ADDRESSES[1], "virtual", "up"]]


@pytest.mark.parametrize("transport", ["hci-socket", "hci-socket:0", "hci-socket:hci0", f"hci-socket:{ADDRESSES[0]}"])
async def test_an_adapter_is_chosen_by_what_it_is_called(radio: Radio, transport: str) -> None:
    async with scanning(transport):
        assert (await adapters())["hci0"] == "held"
        assert (await adapters())["hci1"] != "held"


@pytest.mark.parametrize("was_up", [False, True])
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_an_adapter_is_given_back_as_it_was_found(radio: Radio, was_up: bool, end: signal.Signals) -> None:
    await set_up("hci0", was_up)
    async with scanning("hci-socket:0") as scan:
        scan.process.send_signal(end)
        assert await scan.process.wait() == 128 + end
    assert (await adapters())["hci0"] == ("up" if was_up else "down")


@pytest.mark.parametrize("user", [[], ADMINISTRATOR], ids=["root", "user"])
async def test_who_comes_after_a_crash_gives_the_adapter_back(radio: Radio, user: list[str]) -> None:
    await set_up("hci0", True)
    async with scanning("hci-socket:0", *user) as scan:
        await scan.kill()
    assert (await adapters())["hci0"] == "down"
    async with scanning("hci-socket:0", *user):
        pass
    assert (await adapters())["hci0"] == "up"
    # Changes by the administrator in the meantime count.
    await set_up("hci0", False)
    async with scanning("hci-socket:0", *user):
        pass
    assert (await adapters())["hci0"] == "down"


async def test_an_ordinary_user_needs_one_capability(radio: Radio) -> None:
    await set_up("hci0", True)
    executable = BLE.resolve()
    assert await refusal(*NOBODY, BLE, "scan", "--transport", "hci-socket:0") == (
        "ble: hci-socket:0: not permitted to take over hci0; grant it: "
        f"sudo setcap cap_net_admin+ep {executable}")
    assert (await adapters())["hci0"] == "up"
    async with scanning("hci-socket:0", *ADMINISTRATOR):
        assert (await adapters())["hci0"] == "held"
    assert (await adapters())["hci0"] == "up"


async def test_an_adapter_has_one_user(radio: Radio) -> None:
    async with scanning("hci-socket:0") as scan:
        assert await refusal(BLE, "scan", "--transport", "hci-socket:0") == (
            f"ble: hci-socket:0: hci0 is in use by ble (process {scan.process.pid}); stop it, choose another adapter, "
            'or have one program do both: see "Sharing an adapter" in Documentation/Linux.md')


async def test_an_adapter_that_is_not_there_is_told_with_those_that_are(radio: Radio) -> None:
    assert await refusal(BLE, "scan", "--transport", "hci-socket:7") == (
        f"ble: hci-socket:7: there is no hci7; present: hci0 {ADDRESSES[0]}, hci1 {ADDRESSES[1]}")


async def test_a_radio_that_is_switched_off_is_told_with_the_cure(radio: Radio) -> None:
    with switched_off():
        assert await refusal(BLE, "scan", "--transport", "hci-socket:0") == (
            "ble: hci-socket:0: the radio of hci0 is switched off; switch it on: sudo rfkill unblock bluetooth")


async def test_a_container_without_bluetooth_is_told_with_the_cure() -> None:
    assert await refusal("unshare", "--net", BLE, "scan", "--transport", "hci-socket:0") == (
        "ble: hci-socket:0: this kernel has no Bluetooth sockets; try: sudo modprobe bluetooth (in a container, also run "
        "it with the host's network), or use a transport that needs no adapter")


async def test_no_adapter_and_one_without_low_energy(radio: Radio) -> None:
    await radio.stop()
    try:
        assert present() == []
        assert await refusal(BLE, "scan", "--transport", "hci-socket") == (
            "ble: hci-socket: there is no Bluetooth adapter; plug one in, or use a transport that needs none")
        classic = Radio("-B")
        try:
            await classic.start(1)
            assert await refusal(BLE, "scan", "--transport", "hci-socket") == (
                "ble: the controller does not support Bluetooth Low Energy; use another adapter")
        finally:
            await classic.stop()
    finally:
        await radio.start()
