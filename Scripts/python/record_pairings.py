"""Pairs two Bumble hosts in every association model, and records their random values and packets."""

import asyncio
import json
import sys

from bumble import crypto, smp
from bumble.controller import Controller
from bumble.device import Device
from bumble.hci import Address
from bumble.host import Host
from bumble.link import LocalLink
from bumble.pairing import PairingConfig, PairingDelegate
from bumble.transport.common import AsyncPipeSink

IO = PairingDelegate.IoCapability
NOTHING, DISPLAY = IO.NO_OUTPUT_NO_INPUT, IO.DISPLAY_OUTPUT_ONLY
KEYBOARD, YES_NO = IO.KEYBOARD_INPUT_ONLY, IO.DISPLAY_OUTPUT_AND_YES_NO_INPUT

# Name, LE Secure Connections, IO capabilities, who has the other's out-of-band data, whether authentication is required.
SESSIONS = [
    ("legacy, Just Works", False, (NOTHING, NOTHING), None, False),
    ("legacy, initiator shows", False, (DISPLAY, KEYBOARD), None, True),
    ("legacy, responder shows", False, (KEYBOARD, DISPLAY), None, True),
    ("Just Works", True, (NOTHING, NOTHING), None, False),
    ("numeric comparison", True, (YES_NO, YES_NO), None, True),
    ("initiator shows", True, (DISPLAY, KEYBOARD), None, True),
    ("responder shows", True, (KEYBOARD, DISPLAY), None, True),
    ("out of band, both", True, (NOTHING, NOTHING), (True, True), True),
    ("out of band, initiator has data", True, (NOTHING, NOTHING), (True, False), True),
    ("out of band, responder has data", True, (NOTHING, NOTHING), (False, True), True),
]
ADDRESSES = ["F0:F1:F2:F3:F4:F5", "E5:E4:E3:E2:E1:E0"]


class Person(PairingDelegate):
    """Enters the passkey that the other one displays."""

    def __init__(self, io_capability, shown):
        keys = PairingDelegate.KeyDistribution.DISTRIBUTE_ENCRYPTION_KEY
        keys |= PairingDelegate.KeyDistribution.DISTRIBUTE_IDENTITY_KEY
        super().__init__(io_capability, keys, keys)
        self.shown = shown

    async def compare_numbers(self, number, digits):
        self.shown["number"] = number
        return True

    async def get_number(self):
        while "passkey" not in self.shown:
            await asyncio.sleep(0.01)
        return self.shown["passkey"]

    async def display_number(self, number, digits):
        self.shown["passkey"] = number


async def record(name, secure, io_capabilities, out_of_band, authenticates):
    sent, keys, shown = [], [], {}
    send_command, start_encryption = smp.Manager.send_command, smp.Session.start_encryption

    def sending(manager, connection, command):
        sent.append("CP"[connection.role] + " " + bytes(command).hex())
        return send_command(manager, connection, command)

    def encrypting(session, key):
        keys.append(bytes(key))
        return start_encryption(session, key)

    smp.Manager.send_command, smp.Session.start_encryption = sending, encrypting
    try:
        link = LocalLink()
        devices, contexts = [], [smp.OobContext(), smp.OobContext()]
        for index, address in enumerate(ADDRESSES):
            controller = Controller(f"controller {index}", link=link)
            device = Device(address=Address(address), host=Host(controller, AsyncPipeSink(controller)))
            controller.host = device.host
            await device.power_on()
            device.smp_manager._ecc_key = crypto.EccKey.generate()
            data = None
            if out_of_band:
                peer = contexts[1 - index].share() if out_of_band[index] else None
                data = PairingConfig.OobConfig(contexts[index], peer, None)
            config = PairingConfig(
                sc=secure, mitm=authenticates, bonding=True, delegate=Person(io_capabilities[index], shown), oob=data
            )
            device.pairing_config_factory = lambda _, config=config: config
            devices.append(device)
        await devices[1].start_advertising(auto_restart=False)
        connection = await devices[0].connect(devices[1].random_address)
        await connection.pair()
        private_keys = [
            (context.ecc_key if out_of_band else device.smp_manager.ecc_key).private_key
            for device, context in zip(devices, contexts)
        ]
        return {
            "name": name,
            "secureConnections": secure,
            "ioCapabilities": [int(io) for io in io_capabilities],
            "passkey": shown.get("passkey"),
            "number": shown.get("number"),
            "privateKeys": ["%064x" % key.private_numbers().private_value for key in private_keys],
            "outOfBandRandoms": [context.r[::-1].hex() for context in contexts] if out_of_band else None,
            "hasPeerData": out_of_band,
            "outOfBandConfirms": [context.share().c[::-1].hex() for context in contexts] if out_of_band else None,
            # The distributed keys don't matter.
            "pdus": [line for line in sent if not 0x06 <= int(line[2:4], 16) <= 0x0B],
            "key": keys[0][::-1].hex(),
        }
    finally:
        smp.Manager.send_command, smp.Session.start_encryption = send_command, start_encryption


async def main(path):
    sessions = [await asyncio.wait_for(record(*session), 20) for session in SESSIONS]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(sessions, file, indent=1)
        file.write("\n")


asyncio.run(main(sys.argv[1]))
