"""Pairing by each method, then a reconnection that is encrypted with the key of the bond."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools

import fixture_database as database
from bumble import att
from bumble.core import ProtocolError
from bumble.device import Connection, Device
from bumble.pairing import PairingConfig, PairingDelegate
from laboratory import CENTRAL_ADDRESS, Laboratory, Link, Waiter

PASSKEY = 123456

Capability = PairingDelegate.IoCapability


@dataclasses.dataclass
class Pairing:
    """The capabilities of each side, which determine the method (Vol 3, Part H, 2.3.5.1)."""

    summary: str
    central: Capability
    peripheral: Capability
    secure_connections: bool
    man_in_the_middle_protection: bool = False
    is_requested_by_peripheral: bool = False
    is_refused: bool = False


NOTHING = Capability.NO_OUTPUT_NO_INPUT
YES_OR_NO = Capability.DISPLAY_OUTPUT_AND_YES_NO_INPUT
KEYBOARD = Capability.KEYBOARD_INPUT_ONLY
DISPLAY = Capability.DISPLAY_OUTPUT_ONLY

PAIRINGS = {
    "pairing-secure-just-works": Pairing("LE Secure Connections, Just Works", NOTHING, NOTHING, True),
    "pairing-secure-numeric-comparison": Pairing(
        "LE Secure Connections, Numeric Comparison", YES_OR_NO, YES_OR_NO, True, True),
    "pairing-secure-passkey": Pairing(
        "LE Secure Connections, Passkey Entry, typed on the central", KEYBOARD, DISPLAY, True, True),
    "pairing-legacy-just-works": Pairing("LE legacy pairing, Just Works", NOTHING, NOTHING, False),
    "pairing-legacy-passkey": Pairing(
        "LE legacy pairing, Passkey Entry, typed on the central", KEYBOARD, DISPLAY, False, True),
    "pairing-requested": Pairing(
        "A Security Request from the peripheral, then LE Secure Connections with Just Works", NOTHING, NOTHING, True,
        is_requested_by_peripheral=True),
    "pairing-refused": Pairing(
        "Pairing Failed: the peripheral refuses to pair", NOTHING, NOTHING, True, is_refused=True),
}


class Delegate(PairingDelegate):
    """Knows the passkey, and either accepts everything or rejects pairing."""

    def __init__(self, capability: Capability, is_refused: bool) -> None:
        super().__init__(capability)
        self.is_refused = is_refused

    async def accept(self) -> bool:
        return not self.is_refused

    async def generate_passkey(self) -> int:
        return PASSKEY

    async def get_number(self) -> int:
        # Typing takes a moment, so that the other side displays it first.
        await asyncio.sleep(0.05)
        return PASSKEY


def configuration(choice: Pairing, capability: Capability) -> PairingConfig:
    return PairingConfig(
        sc=choice.secure_connections,
        mitm=choice.man_in_the_middle_protection,
        bonding=True,
        delegate=Delegate(capability, choice.is_refused),
        identity_address_type=PairingConfig.AddressType.RANDOM,
    )


async def read_secret(link: Link) -> att.ATT_PDU:
    """Reads the value that requires an encrypted link."""
    return await link.peer.gatt_client.send_request(att.ATT_Read_By_Type_Request(0x0001, 0xFFFF, database.ENCRYPTED))


async def pair(link: Link, choice: Pairing) -> None:
    if choice.is_requested_by_peripheral:
        with contextlib.closing(Waiter(link.outgoing, Connection.EVENT_SECURITY_REQUEST)) as requested:
            link.incoming.request_pairing()
            await requested.value()
    event = Connection.EVENT_PAIRING_FAILURE if choice.is_refused else Connection.EVENT_PAIRING
    with (
        contextlib.closing(Waiter(link.outgoing, event)) as central,
        contextlib.closing(Waiter(link.incoming, event)) as peripheral,
    ):
        with contextlib.suppress(ProtocolError):
            await link.outgoing.pair()
        await central.value()
        await peripheral.value()


async def pair_and_reconnect(laboratory: Laboratory, choice: Pairing) -> None:
    for device, capability in ((laboratory.central, choice.central), (laboratory.peripheral, choice.peripheral)):
        chosen = configuration(choice, capability)
        device.pairing_config_factory = functools.partial(lambda chosen, _: chosen, chosen)
    link = await laboratory.connect()
    await read_secret(link)
    await pair(link, choice)
    await read_secret(link)
    await link.end_by_central()
    if choice.is_refused:
        return

    if not choice.secure_connections:
        await mend_bond(laboratory.peripheral)
    link = await laboratory.connect()
    await link.outgoing.encrypt()
    await read_secret(link)
    await link.end_by_central()


async def mend_bond(peripheral: Device) -> None:
    """After legacy pairing a link is encrypted with the key that the peripheral distributed at that time (Vol 3,
    Part H, 2.4.4). Bumble's peripheral stores that as the central's, and on the next connection uses the other."""
    store = peripheral.keystore
    keys = await store.get(str(CENTRAL_ADDRESS)) if store else None
    if store is None or keys is None:
        raise RuntimeError("there is no bond")
    keys.ltk_peripheral = keys.ltk_central
    await store.update(str(CENTRAL_ADDRESS), keys)
