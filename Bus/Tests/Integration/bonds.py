"""Bonds, if clients and daemons are killed while they pair. Only .ci/long runs these tests."""
import asyncio
import json
import pathlib
import random
import subprocess
import sys
import unittest

import harness
from dbus_fast import Message, MessageType
from dbus_fast.aio import MessageBus

DOCUMENT = pathlib.Path(__file__).with_name("thermometer.json")
ADAPTER = "/org/bluez/hci0"
# The bond with the first device must survive. The second device is paired and removed again and again.
BONDED, OTHER = (f"{ADAPTER}/dev_C0_00_00_00_00_0{number}" for number in (1, 2))
# Makes this file the client that is killed.
PAIR = "--pair"


class Program:
    """A program on the bus."""

    def __init__(self, bus):
        self.bus = bus

    @classmethod
    async def connect(cls, address):
        return cls(await MessageBus(bus_address=address).connect())

    async def ask(self, path, interface, member, signature="", *body):
        return await self.bus.call(Message(destination="org.bluez", path=path, interface=interface, member=member,
                                           signature=signature, body=list(body)))

    async def call(self, path, interface, member, signature="", *body):
        reply = await self.ask(path, interface, member, signature, *body)
        if reply.message_type is MessageType.ERROR:
            raise AssertionError(f"{path} {member}: {reply.error_name} {reply.body}")
        return reply.body

    async def objects(self):
        return (await self.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))[0]

    async def wait_for(self, condition, what):
        async def poll():
            while not condition(objects := await self.objects()):
                await asyncio.sleep(0.02)
            return objects
        try:
            return await asyncio.wait_for(poll(), harness.LIMIT)
        except asyncio.TimeoutError:
            raise AssertionError(f"still not: {what}") from None

    async def find(self, device):
        await self.call(ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
        await self.wait_for(lambda objects: device in objects, f"{device} was found")
        await self.call(ADAPTER, "org.bluez.Adapter1", "StopDiscovery")

    async def pair(self, device):
        await self.call(device, "org.bluez.Device1", "Pair")

    async def read(self, device):
        """Reads a value that needs an encrypted link."""
        await self.call(device, "org.bluez.Device1", "Connect")
        objects = await self.wait_for(
            lambda objects: objects[device]["org.bluez.Device1"]["ServicesResolved"].value, "the services are known")
        path = next(path for path, interfaces in objects.items() if path.startswith(device)
                    and interfaces.get("org.bluez.GattCharacteristic1", {}).get("UUID", None)
                    and interfaces["org.bluez.GattCharacteristic1"]["UUID"].value.startswith("00002a1e"))
        value = (await self.call(path, "org.bluez.GattCharacteristic1", "ReadValue", "a{sv}", {}))[0]
        await self.call(device, "org.bluez.Device1", "Disconnect")
        return value


class Bonds(unittest.TestCase):
    def setUp(self):
        self.world = harness.World(controllers=3)
        self.addCleanup(self.world.close)
        self.world.start()
        document = json.loads(DOCUMENT.read_text())
        for service in document["services"]:
            for characteristic in service["characteristics"]:
                if characteristic["uuid"] == "2A1E":
                    characteristic["permissions"] = {"read": "encrypted"}
        self.document = self.world.directory / "secured.json"
        self.document.write_text(json.dumps(document))
        for controller, options in ((1, ()), (2, ("--replace-bonds",))):
            # The first device refuses to pair again, so it is a lost bond that would be noticed.
            self.world.serve(self.document, controller, "--pair", "--accept", "--io", "none", "--bonds",
                             str(self.world.directory / f"peer{controller}"), *options)

    async def check(self):
        """Every bond can be read, and the first device's still encrypts."""
        result = subprocess.run(
            [harness.BLE, "bonds", "list", "--json", "--bonds", str(self.world.directory / "bonds")],
            capture_output=True, text=True, timeout=harness.LIMIT)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("C0:00:00:00:00:01", [json.loads(line)["address"] for line in result.stdout.splitlines()],
                      result.stderr)
        program = await Program.connect(self.world.address)
        self.assertEqual(await program.read(BONDED), b"\x01\x02")
        program.bus.disconnect()

    async def pair_first(self):
        program = await Program.connect(self.world.address)
        await program.find(BONDED)
        await program.pair(BONDED)
        await program.call(BONDED, "org.bluez.Device1", "Disconnect")
        program.bus.disconnect()
        await self.check()

    async def kill(self, kills_daemon):
        """Kills a client at a random instant, or the daemon as well, while another bond is made or removed."""
        client = await asyncio.create_subprocess_exec(
            sys.executable, __file__, PAIR, self.world.address, env=self.world.environment, stdout=subprocess.PIPE,
            stderr=self.world.log)
        # It has paired once.
        self.assertEqual(await client.stdout.readline(), b"paired\n")
        await asyncio.sleep(random.uniform(0, 0.5))
        if kills_daemon:
            self.world.kill(self.world.daemon)
        client.kill()
        await client.wait()
        if kills_daemon:
            self.world.start()

    def use(self, kills_daemon):
        async def use():
            await self.pair_first()
            for _ in range(harness.KILLS):
                await self.kill(kills_daemon)
                await self.check()
        asyncio.run(asyncio.wait_for(use(), harness.LIMIT + 30 * harness.KILLS))

    def test_killed_clients(self):
        self.use(kills_daemon=False)

    def test_killed_daemon(self):
        self.use(kills_daemon=True)


async def pair_again_and_again(address):
    program = await Program.connect(address)
    while True:
        if OTHER in await program.objects():
            await program.call(ADAPTER, "org.bluez.Adapter1", "RemoveDevice", "o", OTHER)
        await program.find(OTHER)
        await program.pair(OTHER)
        print("paired", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == [PAIR]:
        asyncio.run(pair_again_and_again(sys.argv[2]))
    unittest.main()
