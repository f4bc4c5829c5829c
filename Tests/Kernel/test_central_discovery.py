"""Our library's discovery of BlueZ's database, attribute by attribute."""

from __future__ import annotations

import re
from typing import Any

from conftest import AgentFactory
from support.bluez import BlueZ
from support.processes import output_of
from support.radio import ADDRESSES
from support.sample import Sample, connect

NUMBER = re.compile(r"= 0x([0-9a-f]{2,4})\b")


def short(uuid: str) -> str:
    """A UUID as our library writes it: in 16 bits if possible."""
    uuid = uuid.upper()
    return uuid[4:8] if re.fullmatch("0000[0-9A-F]{4}-0000-1000-8000-00805F9B34FB", uuid) else uuid


async def listed(*request: str) -> list[tuple[Any, ...]]:
    """The attributes that `gatttool` finds, from hci0 with the kernel's host: the numbers and the UUID of each line."""
    status, output, errors = await output_of("gatttool", "-i", "hci0", "-b", ADDRESSES[1], *request)
    assert status == 0, errors
    lines = [
        (*(int(number, 16) for number in NUMBER.findall(line)), short(line.strip()[-36:]))
        for line in output.splitlines()]
    assert lines
    return lines


async def test_discovery(bluez: BlueZ, agents: AgentFactory) -> None:
    sample = Sample(bluez)
    await output_of("hciconfig", "hci0", "up")
    async with sample.served():
        primary = await listed("--primary")
        characteristics = await listed("--characteristics")
        attributes = await listed("--char-desc")
        agent = await agents()
        link = await connect(agent, ADDRESSES[1])
        database = (await link("discover"))["database"]
        await link("disconnect")

    # As seen by another client.
    assert [(s["handle"], s["end"], s["uuid"]) for s in database] == primary
    assert [
        (c["declaration"], c["properties"], c["handle"], c["uuid"]) for s in database for c in s["characteristics"]
    ] == characteristics
    # Except for the secondary service, which is not discovered because no service includes it.
    assert flattened(database) == [a for a in attributes if a != (sample.secondary.handle, "2801")]

    # As reported to the application by BlueZ.
    for service in sample.services:
        found = next(s for s in database if s["handle"] == service.handle)
        assert found["uuid"] == short(service.uuid)
        assert [(c["handle"], c["uuid"], c["properties"]) for c in found["characteristics"]] == [
            (c.handle, short(c.uuid), c.properties) for c in service.characteristics]
        for c, other in zip(found["characteristics"], service.characteristics, strict=True):
            # BlueZ adds the descriptor for notifications.
            descriptors = [(d["handle"], d["uuid"]) for d in c["descriptors"] if d["uuid"] != "2902"]
            assert descriptors == [(d.handle, short(d.uuid)) for d in other.descriptors]
            assert any(d["uuid"] == "2902" for d in c["descriptors"]) == bool(other.properties & 0x30)


def flattened(database: list[dict[str, Any]]) -> list[tuple[int, str]]:
    """Every attribute, with its type."""
    attributes = []
    for service in database:
        attributes.append((service["handle"], "2800"))
        for characteristic in service["characteristics"]:
            attributes.append((characteristic["declaration"], "2803"))
            attributes.append((characteristic["handle"], characteristic["uuid"]))
            attributes += [(descriptor["handle"], descriptor["uuid"]) for descriptor in characteristic["descriptors"]]
    return attributes
