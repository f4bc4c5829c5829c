"""Our peripheral with BlueZ's tools: bluetoothctl, gatttool and btmgmt."""

from __future__ import annotations

import re

import pytest
from support.peripheral import BATTERY, NAME, Peripheral, full, octets
from support.processes import Process, until
from support.radio import ADDRESSES
from support.shell import Shell

OURS = ADDRESSES[0]


# MARK: bluetoothctl

async def test_bluetoothctl_scans_connects_lists_reads_and_is_notified(peripheral: Peripheral) -> None:
    agent = peripheral.agent
    await peripheral.bluez.forget_devices("hci1")
    await peripheral.alone()
    await agent("stopAdvertising")
    async with Shell.of("bluetoothctl") as shell:
        shell.say(f"select {ADDRESSES[1]}")
        await shell.hear(f"Controller {ADDRESSES[1]}")
        shell.say("scan le")
        await shell.hear("Discovering: yes|Discovery started")
        await peripheral.advertise()
        await shell.hear(f"\\[NEW\\] Device {OURS} {NAME}")
        shell.say("scan off")
        await shell.hear("Discovery stopped")
        shell.say(f"connect {OURS}")
        await shell.hear("Connection successful")
        await until(agent.connected, "our end of the link")
        number = agent.connected()[-1]
        await shell.hear("ServicesResolved: yes")

        shell.say(f"gatt.list-attributes {OURS}")
        for service in peripheral.services:
            await shell.hear(f"(Primary|Secondary) Service \\(Handle 0x.*\\)\n\t.*service{service['handle']:04x}\n"
                             f"\t{full(service['uuid'])}")
        level, notifying = (peripheral.characteristics[name] for name in ("value 23", "notifying"))
        shell.say(f"gatt.select-attribute {full(level['uuid'])}")
        shell.say("gatt.read")
        dump = await shell.hear(r"^((?:[0-9a-f]{2} ){16}) .*\n((?:[0-9a-f]{2} ){7}) ")
        assert bytes.fromhex(dump[1] + dump[2]) == octets(23)

        shell.say(f"gatt.select-attribute {full(notifying['uuid'])}")
        shell.say("gatt.notify on")
        await shell.hear("Notify started")
        await agent.event("subscribed", handle=notifying["handle"])
        await agent("notify", handle=notifying["handle"], value=b"by air".hex())
        await shell.hear("62 79 20 61 69 72")
        shell.say("gatt.notify off")
        await shell.hear("Notify stopped|Notifying: no")
        await agent.event("unsubscribed", handle=notifying["handle"])

        shell.say(f"disconnect {OURS}")
        await shell.hear("Successful disconnected|Disconnection successful")
        reason = (await agent("waitForDisconnection", connection=number))["reason"]
        assert reason == "the peer ended the connection"


# MARK: gatttool

async def test_gatttool_reads_values_of_any_length(peripheral: Peripheral) -> None:
    # It uses the smallest ATT_MTU, so all but the shortest values are read in parts.
    for length in (1, 22, 23, 512):
        answer = await peripheral.gatttool("--char-read", "-a", hex(peripheral.handle(f"value {length}")))
        assert answer == (0, [f"Characteristic value/descriptor: {octets(length).hex(' ')} "], "")


async def test_gatttool_reads_by_type(peripheral: Peripheral) -> None:
    answer = await peripheral.gatttool("--char-read", "-u", "2A00")
    assert answer == (0, [f"handle: 0x0003 \t value: {NAME.encode().hex(' ')} "], "")


async def test_gatttool_writes(peripheral: Peripheral) -> None:
    answer = await peripheral.gatttool(
        "--char-write-req", "-a", hex(peripheral.handle("value 100")), "-n", octets(20).hex())
    assert answer == (0, ["Characteristic value was written successfully"], "")
    assert await peripheral.value("value 100") == octets(20)
    await peripheral.agent("setValue", handle=peripheral.handle("value 100"), value=octets(100).hex())


@pytest.mark.parametrize(("how", "name", "what"), [
    (["--char-write-req", "-n", "00"], "read only", "Attribute can't be written"),
    (["--char-read"], "write only", "Attribute can't be read"),
    (["--char-read"], "refused", "Internal application error: I/O"),
], ids=["read only", "write only", "refused"])
async def test_gatttool_is_told_what_it_may_not_do(
    peripheral: Peripheral, how: list[str], name: str, what: str
) -> None:
    _, output, errors = await peripheral.gatttool(*how, "-a", hex(peripheral.handle(name)))
    assert re.search(what, "\n".join([*output, errors]))


async def test_gatttool_is_told_of_a_handle_that_is_not_there(peripheral: Peripheral) -> None:
    _, output, errors = await peripheral.gatttool("--char-read", "-a", "0xfff0")
    assert re.search("Invalid handle", "\n".join([*output, errors]))


@pytest.mark.parametrize(("name", "configuration", "call", "word"), [
    ("notifying", "0100", "notify", "Notification"), ("indicating", "0200", "indicate", "Indication  "),
])
async def test_gatttool_listens(
    peripheral: Peripheral, name: str, configuration: str, call: str, word: str
) -> None:
    agent, one = peripheral.agent, peripheral.characteristics[name]
    await peripheral.alone()
    command = [
        "stdbuf", "-oL", "gatttool", "-i", "hci1", "-b", OURS, "--char-write-req", "-a", hex(one["configuration"]),
        "-n", configuration, "--listen"]
    lines = [
        f"{word} handle = 0x{one['handle']:04x} value: c0 {index:02x} 00 00 00 " for index in range(50)]
    async with Process.running("gatttool", *command) as listener:
        await agent.event("subscribed", handle=one["handle"])
        await agent(call, handle=one["handle"], value="c0", count=50)

        def lines_of_gatttool() -> list[str]:
            return [line for line in listener.lines() if "handle" in line]

        await until(lambda: len(lines_of_gatttool()) >= 50, "the notifications in gatttool")
        assert lines_of_gatttool() == lines
        await listener.stop()
    await peripheral.alone()


# MARK: btmgmt

async def found(shell: Shell) -> dict[str, str]:
    """The next device that btmgmt finds."""
    device = await shell.hear(
        r"dev_found: (?P<address>\S+) type (?P<type>.*) rssi (?P<rssi>-?\d+) flags .*\n"
        r"AD flags (?P<flags>\S+) *\nname (?P<name>.*)\n")
    return device.groupdict()


async def test_btmgmt_sees_how_the_advertising_changes(peripheral: Peripheral) -> None:
    agent = peripheral.agent
    await agent("stopAdvertising")
    async with Shell.of("btmgmt") as shell:
        shell.say("select 1")
        await shell.hear("Selected index 1")
        shell.say("find -l")
        await shell.hear("discovering on")
        await agent("advertise", name="Before", services=[BATTERY])
        device = await found(shell)
        assert (device["address"], device["type"], device["flags"], device["name"]) == (
            OURS, "LE Public", "0x06", "Before")
        # btvirt reports that it has no signal strength.
        assert device["rssi"] == "127"
        await agent("advertise", name="After", services=[BATTERY])
        assert (await found(shell))["name"] == "After"
        await agent("stopAdvertising")
        shell.say("stop-find -l")
        await shell.hear("discovering off")

        # A device that already advertises is reported when a scan begins; ours is reported when it starts again.
        shell.say("find -l")
        before = await shell.hear("(?s)(.*?)discovering on")
        assert "dev_found" not in before[1]
        await agent("advertise", name="Again")
        assert (await found(shell))["name"] == "Again"
