"""Pairing with BlueZ: the models, and the actions of the person at each side."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from support.agent import Agent
from support.bluez import BlueZ
from support.processes import TIMEOUT, output_of
from support.radio import ADDRESSES
from support.sample import Link, connect
from support.shell import Shell

OURS, THEIRS = ADDRESSES


@dataclass(frozen=True)
class Model:
    """An association model (Core 5.4, Vol 3, Part H, 2.3.5.1), and the IO capabilities that lead to it."""

    name: str
    # A name of our `IOCapability`, and one of BlueZ's.
    ours: str
    theirs: str
    uses_secure_connections: bool = True

    @property
    def is_authenticated(self) -> bool:
        return self.name != "just works"

    def __str__(self) -> str:
        return f"{self.name}, {'LE Secure Connections' if self.uses_secure_connections else 'legacy pairing'}"

    @property
    def security(self) -> dict[str, Any]:
        """The security of a link after this pairing."""
        return {
            "isEncrypted": True, "isAuthenticated": self.is_authenticated,
            "usesSecureConnections": self.uses_secure_connections, "keySize": 16, "isBonded": True}


MODELS = [
    model for uses_secure_connections in (True, False) for model in (
        Model("just works", "noInputNoOutput", "NoInputNoOutput", uses_secure_connections),
        Model("passkey shown here", "displayOnly", "KeyboardOnly", uses_secure_connections),
        Model("passkey shown there", "keyboardOnly", "DisplayOnly", uses_secure_connections))
] + [Model("numeric comparison", "displayYesNo", "DisplayYesNo")]
JUST_WORKS = MODELS[0]


@contextlib.asynccontextmanager
async def person(model: Model) -> AsyncIterator[Shell]:
    """bluetoothctl, whose agent asks its user, with BlueZ's IO capability of a model."""
    kind = "on" if model.uses_secure_connections else "off"
    status, output, errors = await output_of("btmgmt", "-i", "hci1", "sc", kind)
    assert status == 0, output + errors
    async with Shell.of("bluetoothctl", "--agent", model.theirs) as shell:
        await shell.hear("Agent registered")
        shell.say(f"select {ADDRESSES[1]}")
        shell.say("default-agent")
        await shell.hear("Default agent request successful")
        yield shell


# Each question is printed again whenever something else is, but announced only once.
async def enter(shell: Shell, passkey: int) -> None:
    """The person at BlueZ enters a passkey."""
    await shell.hear("Request passkey")
    await shell.hear(r"Enter passkey \(number in 0-999999\): *")
    shell.say(str(passkey))


async def consent(shell: Shell, answer: str = "yes") -> None:
    """The person at BlueZ is asked whether to pair, and answers."""
    await shell.hear("Request authorization")
    await shell.hear(r"Accept pairing \(yes/no\): *")
    shell.say(answer)


async def authenticate(agent: Agent, shell: Shell, model: Model) -> None:
    """The actions of the people at both sides once they have agreed to pair."""
    match model.name:
        case "passkey shown here":
            shown = await agent.event("shown")
            await enter(shell, shown["number"])
        case "passkey shown there":
            await agent.event("asked", question="enterPasskey")
            shown = await shell.hear(r"Passkey: *(\d{6})")
            await agent("answerPairing", passkey=int(shown[1]))
        case "numeric comparison":
            asked = await agent.event("asked", question="compareNumbers")
            await shell.hear("Request confirmation")
            number = await shell.hear(r"Confirm passkey (\d{6}) \(yes/no\): *")
            assert int(number[1]) == asked["number"]
            await agent("answerPairing", isAccepted=True)
            shell.say("yes")


async def leave(link: Link) -> None:
    """Ends a link of our central."""
    await link("disconnect")
    await link.ended()


async def paired(agent: Agent, shell: Shell, model: Model) -> Link:
    """A link on which both sides have paired."""
    await agent("beAgent", capability=model.ours)
    link = await connect(agent, THEIRS)
    answer = agent.begin("pair", connection=link.number, requiresAuthentication=model.is_authenticated)
    if model.is_authenticated:
        await authenticate(agent, shell, model)
    else:
        await consent(shell)
    assert (await answer)["security"] == model.security
    return link


async def properties_of(bluez: BlueZ, address: str = OURS) -> dict[str, Any]:
    """BlueZ's properties of the device with an address."""
    devices = [
        interfaces["org.bluez.Device1"] for path, interfaces in (await bluez.objects()).items()
        if path.startswith("/org/bluez/hci1/") and "org.bluez.Device1" in interfaces]
    return next((device for device in devices if device["Address"] == address), {})


async def until_known(bluez: BlueZ, address: str = OURS, **properties: Any) -> dict[str, Any]:
    """BlueZ's properties of a device, once it has the given ones."""
    async with asyncio.timeout(TIMEOUT):
        while True:
            known = await properties_of(bluez, address)
            if known and all(known.get(name) == value for name, value in properties.items()):
                return known
            await asyncio.sleep(0.02)


async def characteristic_of(bluez: BlueZ, uuid: str, address: str = OURS) -> str:
    """BlueZ's path of a device's characteristic, once BlueZ has discovered all of them."""
    await until_known(bluez, address, ServicesResolved=True)
    objects = await bluez.objects()
    device = next(
        path for path, interfaces in objects.items()
        if interfaces.get("org.bluez.Device1", {}).get("Address") == address)
    return next(
        path for path, interfaces in objects.items()
        if path.startswith(device) and interfaces.get("org.bluez.GattCharacteristic1", {}).get("UUID") == uuid)


async def read(bluez: BlueZ, path: str) -> bytes:
    """Makes BlueZ read a characteristic. It pairs if the peer refuses (Core 5.4, Vol 3, Part C, 10.3.1)."""
    value = await bluez.call(path, "org.bluez.GattCharacteristic1.ReadValue", "a{sv}", {})
    return bytes(value or b"")
