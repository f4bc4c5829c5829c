"""A Bumble host that pairs, as the central or as the peripheral, for `security.py`.

As a peripheral it serves the card, and two values: F101 for encrypted links and F102 for authenticated ones. It ends when
its central disconnects. As a central it receives the card, and prints only its own actions. Exits 0 when done. If
something fails, it prints the error and exits 4.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import pathlib
import re
import sys

import card
from bumble import att, hci
from bumble.core import UUID, AdvertisingData, BaseBumbleError
from bumble.device import Connection, Device, Peer
from bumble.gatt import Characteristic, CharacteristicValue, Service
from bumble.gatt_client import Client
from bumble.keys import JsonKeyStore
from bumble.pairing import OobContext, OobData, OobLegacyContext, PairingConfig, PairingDelegate
from bumble_central import find, receive
from bumble_peripheral import CardPeripheral

SECRETS = UUID("F100")
ENCRYPTED, AUTHENTICATED = UUID("F101"), UUID("F102")
NAMES = {
    "none": PairingDelegate.NO_OUTPUT_NO_INPUT, "display": PairingDelegate.DISPLAY_OUTPUT_ONLY,
    "display-yes-no": PairingDelegate.DISPLAY_OUTPUT_AND_YES_NO_INPUT,
    "keyboard": PairingDelegate.KEYBOARD_INPUT_ONLY,
    "keyboard-display": PairingDelegate.DISPLAY_OUTPUT_AND_KEYBOARD_INPUT,
}


class Person(PairingDelegate):
    """Answers with the given values, or with values that the other device prints to standard error."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        super().__init__(NAMES[arguments.io], maximum_encryption_key_size=arguments.key_size)
        self.arguments = arguments
        # What was said before this pairing does not count.
        self.start = arguments.other.stat().st_size if arguments.other and arguments.other.exists() else 0

    async def accept(self) -> bool:
        return not self.arguments.refuse

    async def generate_passkey(self) -> int:
        return self.arguments.passkey

    async def get_number(self) -> int:
        if self.arguments.typed is not None:
            return self.arguments.typed
        return await self.heard(r"passkey (\d{6})")

    async def compare_numbers(self, number: int, digits: int) -> bool:
        return await self.heard(r"(\d{6}) is accepted") == number

    async def heard(self, pattern: str) -> int:
        """The number in a line of the other device, once the line has been printed."""
        return int((await said(self.arguments.other, self.start, pattern))[1])


async def said(log: pathlib.Path, start: int, pattern: str) -> re.Match[str]:
    """Waits until a log has a match behind an offset."""
    while True:
        if found := re.search(pattern, log.read_text(encoding="utf-8")[start:]):
            return found
        await asyncio.sleep(0.02)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def secrets(device: Device) -> Service:
    """Two values that need protection. Bumble treats every encrypted link as authenticated, so this checks."""

    async def read(connection: Connection) -> bytes:
        keys = await device.keystore.get(str(connection.peer_address)) if connection.is_encrypted else None
        key = keys and (keys.ltk or keys.ltk_central)
        if not key or not key.authenticated:
            raise att.ATT_Error(error_code=att.ErrorCode.INSUFFICIENT_AUTHENTICATION)
        return b"\xF1\x02"

    permissions = Characteristic.Permissions
    return Service(SECRETS, [
        Characteristic(ENCRYPTED, Characteristic.Properties.READ,
                       permissions.READABLE | permissions.READ_REQUIRES_ENCRYPTION, b"\xF1\x01"),
        Characteristic(AUTHENTICATED, Characteristic.Properties.READ, permissions.READABLE,
                       CharacteristicValue(read=read)),
    ])


async def mend_bond(device: Device, peer: hci.Address) -> None:
    """After legacy pairing a link is encrypted with the key that its peripheral distributed (Vol 3, Part H, 2.4.4).
    Bumble's peripheral stores that as the central's, and looks up the other when the central requests it."""
    keys = await device.keystore.get(str(peer))
    if keys is not None and keys.ltk is None and keys.ltk_central is not None:
        keys.ltk_peripheral = keys.ltk_central
        await device.keystore.update(str(peer), keys)


def watch_bearers(device: Device) -> None:
    """Reports when the first PDU arrives over an enhanced bearer."""
    take, said = device.gatt_server.on_gatt_pdu, []

    def on_pdu(bearer: att.Bearer, pdu: att.ATT_PDU) -> None:
        if att.is_enhanced_bearer(bearer) and not said:
            said.append(True)
            say(f"over an enhanced bearer: {pdu.name}")
        take(bearer, pdu)

    device.gatt_server.on_gatt_pdu = on_pdu


async def serve(device: Device, arguments: argparse.Namespace) -> int:
    """Serves one central."""
    watch_bearers(device)
    peripheral = CardPeripheral(device, card_payload(), card.CHUNK_SIZE, once=True)
    device.add_service(secrets(device))
    failures: list[str] = []

    def on_connection(connection: Connection) -> None:
        def on_pairing(_keys: object) -> None:
            say("paired")
            asyncio.get_running_loop().create_task(mend_bond(device, connection.peer_address))

        def on_failure(reason: int) -> None:
            failures.append(f"{att_name(reason)}")
            say(f"pairing failed: {att_name(reason)}")

        connection.on(Connection.EVENT_PAIRING, on_pairing)
        connection.on(Connection.EVENT_PAIRING_FAILURE, on_failure)
        connection.on(Connection.EVENT_CONNECTION_ENCRYPTION_CHANGE, lambda: say("encrypted"))
        if arguments.request:
            connection.request_pairing()

    device.on(Device.EVENT_CONNECTION, on_connection)
    await peripheral.advertise()
    say("advertising")
    await peripheral.link_lost.wait()
    return card.DONE


def att_name(reason: int) -> str:
    return getattr(reason, "name", str(reason))


async def use(device: Device, arguments: argparse.Namespace) -> int:
    """Connects and performs each requested action."""
    address = None
    for number, actions in enumerate(arguments.do.split("/")):
        if number or address is None:
            address = await find(device)
        connection = await device.connect(address)
        try:
            for action in actions.split(","):
                await perform(action, connection, arguments)
                say(f"{action}: done")
        finally:
            with contextlib.suppress(BaseBumbleError, asyncio.CancelledError):
                await connection.disconnect()
    return card.DONE


async def perform(action: str, connection: Connection, arguments: argparse.Namespace) -> None:
    match action:
        case "pair":
            start = len(arguments.other.read_text(encoding="utf-8"))
            await connection.pair()
            # The other device stores its bond before it reports success. If the link ended first, the pairing would fail.
            await said(arguments.other, start, "paired with ")
        case "encrypt":
            await connection.encrypt()
        case "card":
            if await receive(Peer(connection), 185) != card_payload():
                raise ValueError("another card was received than was sent")
        case "enhanced-card":
            # One bearer is for the card, and the other is busy meanwhile.
            busy, idle = await Client.connect_eatt(connection, count=2)
            peer = Peer(connection)
            peer.gatt_client = idle
            payload, services = await asyncio.gather(receive(peer, None), busy.discover_services())
            if payload != card_payload() or not services:
                raise ValueError("another card was received than was sent, or no service found")
        case "refused-bearers":
            try:
                await Client.connect_eatt(connection, count=2)
            except BaseBumbleError as error:
                say(f"refused: {error}")
                return
            raise ValueError("the bearers were not refused")
        case "renew":
            device = connection.device
            # Bumble would send the address before this one.
            device.random_address = fresh = hci.Address.generate_private_address(device.irk)
            if not await device.update_rpa():
                raise ValueError("the private address could not be changed")
            device.random_address = fresh
        case "refused-card":
            try:
                await receive(Peer(connection), 185)
            except att.ATT_Error as error:
                say(f"refused: {att.ErrorCode(error.error_code).name}")
                # Or Bumble would not unsubscribe the next time: it takes this one for a subscriber.
                connection.gatt_client.notification_subscribers.clear()
                return
            raise ValueError("the card was not refused")
        case _:
            raise ValueError(f"there is no action {action}")


def card_payload() -> bytes:
    return (pathlib.Path(__file__).parent / "card.vcf").read_bytes()


async def run(arguments: argparse.Namespace) -> int:
    address = card_address(arguments.role)
    key = b"A key of Bumble." if arguments.resolvable else bytes(16)
    async with card.open_device(
        arguments.transport, "secure", address, arguments.btsnoop, key, is_private=arguments.private,
        has_enhanced_bearers=arguments.enhanced,
    ) as device:
        device.keystore = JsonKeyStore(None, str(arguments.keys))
        person = Person(arguments)
        own = OobContext()
        if arguments.oob_out is not None:
            arguments.oob_out.write_text(bytes(own.share().to_ad()).hex())
        device.pairing_config_factory = lambda _: PairingConfig(
            sc=not arguments.legacy, mitm=arguments.mitm, bonding=not arguments.no_bond, delegate=person,
            oob=out_of_band(arguments, own),
            identity_address_type=PairingConfig.AddressType.RANDOM)
        if arguments.role == "peripheral":
            return await serve(device, arguments)
        return await use(device, arguments)


def out_of_band(arguments: argparse.Namespace, own: OobContext) -> PairingConfig.OobConfig | None:
    """The out-of-band data, read from files when pairing begins."""
    if arguments.oob_in is None and arguments.oob_out is None:
        return None
    peer = OobData()
    if arguments.oob_in is not None:
        peer = OobData.from_ad(AdvertisingData.from_bytes(bytes.fromhex(arguments.oob_in.read_text())))
    return PairingConfig.OobConfig(own, peer.shared_data, peer.legacy_context or OobLegacyContext())


def card_address(role: str) -> str:
    return "F0:0D:00:00:00:01" if role == "peripheral" else "F0:0D:00:00:00:02"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", help="Bumble's name of the transport to the controller")
    parser.add_argument("role", choices=["central", "peripheral"])
    parser.add_argument("--keys", type=pathlib.Path, required=True, help="file to keep bonds in")
    parser.add_argument("--io", choices=sorted(NAMES), default="none")
    parser.add_argument("--legacy", action="store_true", help="no LE Secure Connections")
    parser.add_argument("--mitm", action="store_true", help="ask for protection against machines in the middle")
    parser.add_argument("--no-bond", action="store_true", help="keep no keys")
    parser.add_argument("--resolvable", action="store_true", help="distribute a key for private addresses")
    parser.add_argument("--private", action="store_true", help="use private addresses")
    parser.add_argument("--enhanced", action="store_true", help="offer enhanced ATT bearers")
    parser.add_argument("--refuse", action="store_true", help="refuse to pair")
    parser.add_argument("--request", action="store_true", help="as a peripheral, send a Security Request")
    parser.add_argument("--key-size", type=int, default=16)
    parser.add_argument("--passkey", type=int, default=42195, help="the passkey to show")
    parser.add_argument("--typed", type=int, help="the passkey to type; by default the one the other device shows")
    parser.add_argument("--oob-in", type=pathlib.Path, help="file with out-of-band data of the other device")
    parser.add_argument("--oob-out", type=pathlib.Path, help="file to write this device's out-of-band data to")
    parser.add_argument("--other", type=pathlib.Path, help="what the other device says")
    parser.add_argument("--do", default="pair,card",
                        help="as a central: pair, encrypt, card, refused-card, enhanced-card (over two enhanced ATT "
                             "bearers), refused-bearers, renew (its address); / stands for a new "
                             "connection")
    parser.add_argument("--btsnoop", type=argparse.FileType("wb", bufsize=0), help="file to capture into")
    arguments = parser.parse_args()
    try:
        return asyncio.run(asyncio.wait_for(run(arguments), 30))
    except (BaseBumbleError, ValueError, TimeoutError, asyncio.CancelledError) as error:
        say(f"failed: {error!r}, {error}")
        return card.LINK_LOST


if __name__ == "__main__":
    sys.exit(main())
