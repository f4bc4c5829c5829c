"""BlueZ's discovery of our database, attribute by attribute, and of its changes."""

from __future__ import annotations

import asyncio
from typing import Any

from support.peripheral import (
    CHARACTERISTICS, PROPERTIES, UUID, Link, Peripheral, characteristic, descriptors, full)
from support.processes import TIMEOUT, until

# BlueZ shows Generic Attribute. Versions up to 5.66 hide Generic Access, and later ones show it, so these cases leave it
# out.
GENERIC_ACCESS = full("1800")
GENERIC_ATTRIBUTE = (6, full("1801"), [
    (7, full("2A05"), ["indicate"], [(9, full("2902"))]), (10, full("2B29"), ["read", "write"], []),
    (12, full("2B2A"), ["read"], []), (14, full("2B3A"), ["read"], [])])


def expected(peripheral: Peripheral) -> list[Any]:
    """BlueZ's expected view of everything published, ordered by handle."""
    return sorted([GENERIC_ATTRIBUTE] + [
        (service["handle"], full(service["uuid"]), [
            (one["declaration"], full(one["uuid"]), flags(one),
             [(handle, full(uuid)) for handle, uuid in descriptors(one)])
            for one in service["characteristics"]])
        for service in peripheral.services])


def flags(one: dict[str, Any]) -> list[str]:
    names = [name for name, bit in PROPERTIES.items() if one["properties"] & bit]
    if one.get("extendedProperties") == 1:
        names.append("reliable-write")
    return sorted(names)


async def test_bleak_shows_every_attribute_that_is_published(link: Link) -> None:
    shown = [
        (service.handle, service.uuid, sorted(
            (one.handle, one.uuid, sorted(one.properties),
             sorted((descriptor.handle, descriptor.uuid) for descriptor in one.descriptors))
            for one in service.characteristics))
        for service in link.client.services if service.uuid != GENERIC_ACCESS]
    assert sorted(shown) == expected(link.peripheral)


async def test_services_are_primary_secondary_and_included_as_published(link: Link) -> None:
    device = link.peripheral.path
    objects = await link.peripheral.bluez.objects()
    services = {
        path: interfaces["org.bluez.GattService1"] for path, interfaces in objects.items()
        if path.startswith(device) and "org.bluez.GattService1" in interfaces}
    shown = {
        path.removeprefix(f"{device}/"): (service["Primary"], service["Includes"])
        for path, service in services.items() if service["UUID"] != GENERIC_ACCESS}
    assert shown == {"service0006": (True, [])} | {
        f"service{service['handle']:04x}":
            (service["isPrimary"], [f"{device}/service{handle:04x}" for handle in service["includes"]])
        for service in link.peripheral.services}


async def test_descriptors_have_the_values_that_were_published(link: Link) -> None:
    # BlueZ's battery profile subscribes to the level by itself.
    await link.event("subscribed", "level")
    for one in link.peripheral.characteristics.values():
        if "configuration" in one:
            is_level = one is link.peripheral.characteristics["level"]
            assert await link.client.read_gatt_descriptor(one["configuration"]) == bytes([is_level, 0])
        if "extendedProperties" in one:
            assert await link.client.read_gatt_descriptor(one["handle"] + 1) == b"\x01\0"
        for descriptor in one.get("descriptors", []):
            assert await link.client.read_gatt_descriptor(descriptor["handle"]) == bytes.fromhex(descriptor["value"])


async def test_bluez_knows_the_device_by_its_name_and_services(link: Link) -> None:
    device = (await link.peripheral.bluez.objects())[link.peripheral.path]
    properties = device["org.bluez.Device1"]
    assert (properties["Name"], properties["AddressType"]) == ("Kernel", "public")
    assert set(properties["UUIDs"]) >= {
        full("1800"), full("1801"), *(full(one["uuid"]) for one in link.peripheral.services if one["isPrimary"])}
    # BlueZ's battery profile reads the level by itself.
    async with asyncio.timeout(TIMEOUT):
        while (battery := device.get("org.bluez.Battery1")) is None:
            await asyncio.sleep(0.02)
            device = (await link.peripheral.bluez.objects())[link.peripheral.path]
    assert battery["Percentage"] == int(CHARACTERISTICS["battery"]["level"]["value"], 16)


# MARK: gatttool, which has a client of its own and hides nothing

async def test_gatttool_lists_every_primary_service(peripheral: Peripheral) -> None:
    published = [(service["handle"], service["end"], service["uuid"])
                 for service in peripheral.services if service["isPrimary"]]
    assert await peripheral.gatttool("--primary") == (0, [
        f"attr handle = 0x{start:04x}, end grp handle = 0x{end:04x} uuid: {full(uuid)}"
        for start, end, uuid in [(1, 5, "1800"), (6, 15, "1801"), *published]], "")


async def test_gatttool_lists_every_characteristic(peripheral: Peripheral) -> None:
    rows = peripheral.attributes
    assert await peripheral.gatttool("--characteristics") == (0, [
        f"handle = 0x{handle:04x}, char properties = 0x{properties:02x}, char value handle = 0x{handle + 1:04x},"
        f" uuid = {rows[index + 1][1]}"
        for index, (handle, _, properties) in enumerate(rows) if properties is not None], "")


async def test_gatttool_lists_every_attribute(peripheral: Peripheral) -> None:
    assert await peripheral.gatttool("--char-desc") == (0, [
        f"handle = 0x{handle:04x}, uuid = {uuid}" for handle, uuid, _ in peripheral.attributes], "")


# MARK: Service Changed

async def database(peripheral: Peripheral) -> list[Any]:
    """BlueZ's current view of the database; bleak keeps the view of the time it connected."""
    found: dict[str, list[Any]] = {}
    for path, interfaces in sorted((await peripheral.bluez.objects()).items()):
        owner, _, name = path.rpartition("/")
        handle = int(name[-4:], 16) if path.startswith(peripheral.path + "/") else 0
        if one := interfaces.get("org.bluez.GattService1"):
            found.setdefault(owner, []).append((handle, one["UUID"], found.setdefault(path, [])))
        elif one := interfaces.get("org.bluez.GattCharacteristic1"):
            found.setdefault(owner, []).append((handle, one["UUID"], sorted(one["Flags"]), found.setdefault(path, [])))
        elif one := interfaces.get("org.bluez.GattDescriptor1"):
            found.setdefault(owner, []).append((handle, one["UUID"]))
    return [service for service in found.get(peripheral.path, []) if service[1] != GENERIC_ACCESS]


async def noticed(peripheral: Peripheral) -> None:
    """Waits until BlueZ's view matches what is published."""
    async with asyncio.timeout(TIMEOUT):
        while await database(peripheral) != expected(peripheral):
            await asyncio.sleep(0.02)


async def test_services_come_and_go_while_bluez_is_connected(link: Link) -> None:
    peripheral = link.peripheral
    values = await link.subscribe("notifying")
    first = await peripheral.publish(UUID.format(0x200), {"first": characteristic(0x201, "read", value=b"1")})
    await noticed(peripheral)
    assert await link.read_from("first", 0) == b"1"
    second = await peripheral.publish("1815", {
        "second": characteristic("2A56", "read", "notify", value=b"2"), "third": characteristic(0x202, "read")})
    await noticed(peripheral)
    assert await link.read_from("second", 0) == b"2"
    await peripheral.withdraw(first)
    await noticed(peripheral)
    # Everything else continues to work.
    assert (await peripheral.agent("notify", handle=peripheral.handle("notifying"), value="aa"))["count"] == 1
    await until(lambda: values == [b"\xAA"], "the notification")
    await peripheral.withdraw(second)
    await noticed(peripheral)


async def test_a_service_takes_the_place_of_another(link: Link) -> None:
    peripheral = link.peripheral
    before = await peripheral.publish(UUID.format(0x210), {"before": characteristic(0x211, "read", value=b"old")})
    await noticed(peripheral)
    await peripheral.withdraw(before)
    after = await peripheral.publish(UUID.format(0x212), {"after": characteristic(0x213, "read", value=b"new")})
    assert after["handle"] == before["handle"]
    await noticed(peripheral)
    assert await link.read_from("after", 0) == b"new"
    await peripheral.withdraw(after)
    await noticed(peripheral)


async def test_bluez_sees_what_has_changed_while_it_was_away(peripheral: Peripheral) -> None:
    async with peripheral.connected() as link:
        assert await database(peripheral) == expected(peripheral)
    service = await peripheral.publish(UUID.format(0x220), {"meanwhile": characteristic(0x221, "read", value=b"here")})
    async with peripheral.connected() as link:
        assert await database(peripheral) == expected(peripheral)
        assert await link.read_from("meanwhile", 0) == b"here"
    await peripheral.withdraw(service)
    async with peripheral.connected() as link:
        assert await database(peripheral) == expected(peripheral)
