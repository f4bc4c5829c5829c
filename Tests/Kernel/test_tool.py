"""The commands of `ble` on a real kernel's adapter, against BlueZ.

The databases are listed here as attributes, independently of either side.
"""

from __future__ import annotations

import asyncio
import json
import pathlib
from typing import Any

import pytest
from bleak import BleakScanner
from bleak.backends.device import BLEDevice
from bleak.backends.scanner import AdvertisementData
from support import card, client
from support.application import Characteristic
from support.bluez import BlueZ, bluez_version
from support.peripheral import full
from support.processes import BINARIES, TIMEOUT, Process, output_of, until
from support.radio import ADDRESSES
from support.sample import NAME, UUID, Sample
from test_central_discovery import NUMBER, short

BLE = BINARIES / "ble"
OURS, THEIRS = ADDRESSES
PROPERTIES = ["broadcast", "read", "writeWithoutResponse", "write", "notify", "indicate"]


async def ble(*arguments: str | pathlib.Path) -> str:
    """The output of a command that must succeed."""
    status, output, errors = await output_of(
        BLE, arguments[0], "--transport", "hci-socket:0", *arguments[1:], timeout=3 * TIMEOUT)
    assert status == 0, errors
    return output


async def refusal(*arguments: str | pathlib.Path) -> tuple[int, str]:
    """The status and the message of a command that must fail."""
    status, _, errors = await output_of(
        BLE, arguments[0], "--transport", "hci-socket:0", *arguments[1:], timeout=3 * TIMEOUT)
    return status, errors


# MARK: Our central

def check_sample(document: dict[str, Any], sample: Sample) -> None:
    """Checks that a document matches the application that BlueZ serves, attribute for attribute."""
    services = {service["uuid"]: service for service in document["services"]}
    # BlueZ's own services stand beside it.
    assert set(services) >= {short(service.uuid) for service in sample.services}
    secondary = services[short(sample.secondary.uuid)]
    assert (int(secondary["handle"], 16), secondary["type"]) == (sample.secondary.handle, "secondary")
    for service in sample.services:
        found = services[short(service.uuid)]
        assert int(found["handle"], 16) == service.handle
        assert len(found["characteristics"]) == len(service.characteristics)
        for one, other in zip(found["characteristics"], service.characteristics, strict=True):
            check_characteristic(one, other)


def check_characteristic(found: dict[str, Any], served: Characteristic) -> None:
    assert (int(found["valueHandle"], 16), found["uuid"]) == (served.handle, short(served.uuid))
    assert sum(1 << PROPERTIES.index(word) for word in found["properties"]) == served.properties
    if "read" in served.flags:
        assert value_of(found) == served.value
    elif "encrypt-read" in served.flags:
        assert found["permissions"]["readError"] == "insufficientEncryption"
    descriptors = {descriptor["uuid"]: descriptor for descriptor in found.get("descriptors", [])}
    assert ("2902" in descriptors) == bool(served.properties & 0x30)
    for descriptor in served.descriptors:
        one = descriptors[short(descriptor.uuid)]
        assert (int(one["handle"], 16), value_of(one)) == (descriptor.handle, descriptor.value)


def value_of(attribute: dict[str, Any]) -> bytes:
    return attribute["text"].encode() if "text" in attribute else bytes.fromhex(attribute.get("value", ""))


async def test_inspect_shows_what_bluez_serves(bluez: BlueZ) -> None:
    sample = Sample(bluez)
    async with sample.served():
        check_sample(json.loads(await ble("inspect", "--json", f"{THEIRS}/P")), sample)
        tree = await ble("inspect", f"{THEIRS}/P")
    assert f"0x{sample.battery.handle:04X}  Battery Level (2A19)  read, notify" in tree


async def test_values_are_read_and_written(bluez: BlueZ) -> None:
    sample = Sample(bluez)
    async with sample.served():
        lines = (await ble("read", f"{THEIRS}/P", "2A19", UUID.format(5), "--json")).splitlines()
        assert [json.loads(line)["value"] for line in lines] == ["57", b"fixed".hex().upper()]
        assert json.loads(lines[0])["fields"] == {"percentage": 87}
        await ble("write", f"{THEIRS}/P", UUID.format(1), "0102", UUID.format(6), "03")
        assert (sample.value.value, sample.write_only.written) == (bytes([1, 2]), [bytes([3])])
        status, errors = await refusal("read", f"{THEIRS}/P", UUID.format(6))
        assert status == 4 and "Read Not Permitted" in errors
        status, errors = await refusal("write", f"{THEIRS}/P", "2AFF", "00")
        assert status == 3 and "2AFF" in errors


async def test_notifications_and_indications_are_printed(bluez: BlueZ) -> None:
    sample = Sample(bluez)
    async with sample.served():
        command = ["notify", "--transport", "hci-socket:0", f"{THEIRS}/P", UUID.format(3), UUID.format(4)]
        async with Process.running("notify", BLE, *command, "--count", "4", "--csv") as notify:
            def values() -> list[tuple[str, str]]:
                """The numbers in the printed UUIDs, and the values."""
                lines = [line.split(",") for line in notify.lines() if ",0x" in line]
                return [(line[3][7], line[4]) for line in lines]

            await until(lambda: sample.notifying.is_notifying and sample.indicating.is_notifying, "the subscriptions")
            await sample.notifying.send(bluez, b"\x01", b"\x02", b"\x03")
            await until(lambda: len(values()) == 3, "three notifications")
            await sample.indicating.send(bluez, b"\x04")
            assert await asyncio.wait_for(notify.process.wait(), TIMEOUT) == 0
            assert values() == [("3", "01"), ("3", "02"), ("3", "03"), ("4", "04")]


async def test_a_scan_sees_what_bluez_advertises(bluez: BlueZ) -> None:
    async with Sample(bluez).served():
        command = ["scan", "--json", "--transport", "hci-socket:0", "--address", f"{THEIRS}/P"]
        async with Process.running("scan", BLE, *command) as scan:
            await until(lambda: f'"name":"{NAME}"' in scan.said(), "BlueZ's advertisement")
            assert await scan.stop() == 128 + 15
    devices = [json.loads(line) for line in scan.lines() if line.startswith("{")]
    assert {device["address"] for device in devices} == {f"{THEIRS}/P"}
    assert card.SERVICE.upper() in [service["uuid"] for device in devices for service in device.get("services", [])]


# MARK: Our peripheral

def document(value: int) -> dict[str, Any]:
    """A device whose first value has this handle; its declaration has 0x0014, and its first descriptor 0x0017."""
    beats = {"uuid": "2901", "handle": "0x0017", "text": "beats"}
    return {
        "name": "Served",
        "services": [
            {"uuid": "1800", "handle": 1, "characteristics": [
                {"uuid": "2A00", "properties": ["read"], "text": "Served"}]},
            {"uuid": "180D", "handle": "0x0010", "endHandle": "0x001F", "characteristics": [
                {"uuid": "2A37", "handle": "0x0014", "valueHandle": f"0x{value:04X}", "properties": ["notify"],
                 "descriptors": [beats, {"uuid": "2902", "handle": "0x001A"}]},
                {"uuid": "2A38", "properties": ["read"], "value": "01"}]},
            {"uuid": UUID.format(32), "handle": "0x0030", "characteristics": [
                {"uuid": UUID.format(33), "properties": ["read", "write"], "text": "at first"}]},
        ],
        "advertisement": {"name": "Served", "services": ["180D"]},
        "notifications": [{"at": 50, "uuid": "2A37", "value": "00 48"}, {"at": 120, "uuid": "2A37", "value": "00 49"}],
    }


def attributes(value: int) -> list[tuple[int, str]]:
    """The attributes of that device."""
    return [
        (0x01, "2800"), (0x02, "2803"), (0x03, "2A00"),
        (0x10, "2800"), (0x14, "2803"), (value, "2A37"), (0x17, "2901"), (0x1A, "2902"), (0x1B, "2803"), (0x1C, "2A38"),
        (0x30, "2800"), (0x31, "2803"), (0x32, UUID.format(33).upper()),
    ]


async def gatttool(*arguments: str) -> tuple[int, str, str]:
    """The output of `gatttool` on hci1 for our device."""
    return await output_of("gatttool", "-i", "hci1", "-b", OURS, *arguments)


async def kernel_lets_go() -> None:
    """Waits until the kernel ends a program's link, which it keeps for two seconds: a new link would end with it."""
    async with asyncio.timeout(TIMEOUT):
        while "handle" in (await output_of("hcitool", "-i", "hci1", "con"))[1]:
            await asyncio.sleep(0.1)


async def attributes_of() -> list[tuple[Any, ...]]:
    """Every attribute of our device as `gatttool` finds it: its handle and its type."""
    for _ in range(5):
        status, output, errors = await gatttool("--char-desc")
        if status == 0 and output:
            return [
                (*(int(number, 16) for number in NUMBER.findall(line)), short(line.strip()[-36:]))
                for line in output.splitlines()]
        await kernel_lets_go()
    raise AssertionError(errors)


async def sighted(address: str, condition: Any) -> tuple[BLEDevice, AdvertisementData]:
    """BlueZ's properties of a device, once a condition holds for it."""
    for _ in range(round(TIMEOUT)):
        found = await BleakScanner.discover(timeout=1, return_adv=True, bluez={"adapter": client.ADAPTER})
        if (pair := found.get(address)) is not None and condition(pair[1]):
            return pair
    raise AssertionError(f"BlueZ hears of {address} only {found.get(address)}")


@pytest.mark.parametrize("value", [
    pytest.param(0x15, id="a value behind its declaration"),
    pytest.param(0x16, id="a handle between declaration and value", marks=pytest.mark.skipif(
        bluez_version() >= (5, 87), reason="bluetoothd then shows no descriptors, or crashes")),
])
async def test_bluez_finds_what_serve_serves(bluez: BlueZ, tmp_path: pathlib.Path, value: int) -> None:
    file = tmp_path / "device.json"
    file.write_text(json.dumps(document(value)))
    serve = await Process.start("serve", BLE, "serve", file, "--transport", "hci-socket:0")
    try:
        device, advertised = await sighted(OURS, lambda data: full("180D") in data.service_uuids)
        # BlueZ names a characteristic by the handle of its declaration.
        async with client.connected(device) as bleak:
            values = [bytes(await bleak.read_gatt_char(handle)) for handle in (0x1B, 0x31)]
            assert values == [b"\x01", b"at first"]
            assert bytes(await bleak.read_gatt_descriptor(0x17)) == b"beats"
            await bleak.write_gatt_char(0x31, b"then", response=True)
            assert bytes(await bleak.read_gatt_char(0x31)) == b"then"
            notified: list[bytes] = []
            await bleak.start_notify(full("2A37"), lambda _, value: notified.append(bytes(value)))
            await until(lambda: len(notified) == 2, "two notifications")
            assert notified == [b"\x00\x48", b"\x00\x49"]
        assert advertised.local_name == "Served"
        await until(lambda: "disconnected" in serve.said(), "the end of the link")
        assert await attributes_of() == attributes(value)
    finally:
        await serve.stop()


async def test_a_device_of_bluez_is_recorded_and_replayed(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "recorded.json"
    sample = Sample(bluez)
    async with sample.served():
        command = ["record", "--transport", "hci-socket:0", f"{THEIRS}/P", file, "--time", "6"]
        async with Process.running("record", BLE, *command) as record:
            await until(lambda: sample.notifying.is_notifying and sample.battery.is_notifying, "the subscriptions")
            await sample.battery.send(bluez, b"\x58", b"\x59")
            assert await asyncio.wait_for(record.process.wait(), 2 * TIMEOUT) == 0, record.said()
        document = json.loads(file.read_text())
        check_sample(document, sample)
        notified_then = [(entry["handle"], entry["value"]) for entry in document["notifications"]]
        assert notified_then == [(f"0x{sample.battery.handle:04X}", "58"), (f"0x{sample.battery.handle:04X}", "59")]
        recorded = [
            (one.handle, short(one.uuid)) for service in sample.services for one in service.characteristics]
        service, battery = sample.service.handle, sample.battery.handle
    # The same device again, now ours. It is as little discoverable as BlueZ's own, so it is connected to by its address.
    replay = await Process.start("replay", BLE, "replay", file, "--transport", "hci-socket:0")
    try:
        await until(lambda: "serving" in replay.said(), "the device")
        attributes = await attributes_of()
        assert set(recorded) <= set(attributes) and (service, "2800") in attributes
        await kernel_lets_go()
        status, output, _ = await gatttool("--char-read", "-a", f"{sample.read_only.handle:#x}")
        assert (status, output.strip()) == (
            0, f"Characteristic value/descriptor: {b'fixed'.hex(' ')}")
        await kernel_lets_go()
        configuration = next(handle for handle, uuid in attributes if uuid == "2902" and handle > battery)
        listener = await Process.start(
            "listener", "stdbuf", "-oL", "gatttool", "-i", "hci1", "-b", OURS, "--char-write-req", "-a",
            f"{configuration:#x}", "-n", "0100", "--listen")
        expected = [f"Notification handle = 0x{battery:04x} value: {value} \n" for value in ("58", "59")]
        try:
            await until(lambda: listener.said().endswith("".join(expected)), "two notifications")
        finally:
            await listener.kill()
    finally:
        await replay.stop()


@pytest.mark.parametrize(("command", "company", "data"), [
    (["advertise", "--manufacturer", "FFFF=0102"], 0xFFFF, "0102"),
    (["beacon", "ibeacon", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0", "1", "2"], 0x004C,
     "0215E2C56DB5DFFB48D2B060D0F5A71096E000010002"),
], ids=["raw data", "an iBeacon"])
async def test_bluez_hears_what_is_advertised(bluez: BlueZ, command: list[str], company: int, data: str) -> None:
    process = await Process.start("advertise", BLE, *command, "--transport", "hci-socket:0")
    try:
        _, heard = await sighted(OURS, lambda one: company in one.manufacturer_data)
        assert heard.manufacturer_data[company].hex().upper().startswith(data)
    finally:
        await process.stop()
