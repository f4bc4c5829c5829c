"""bless, unmodified, as a peripheral on ble-bus. `ble` is the central."""
import asyncio
import os
import subprocess
import sys
import unittest

import harness
from bless import BlessServer, GATTAttributePermissions, GATTCharacteristicProperties

SERVICE = "a07498ca-ad5b-474e-940d-16f1fbe7e8cd"
CHARACTERISTIC = "51ff12bb-3ed8-46e5-b4f9-d64e2fec021b"


class WithBless(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.start()
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.world.address

    async def serve(self):
        server = BlessServer(name="Blessed")
        server.read_request_func = lambda characteristic, **_: characteristic.value

        def write(characteristic, value, **_):
            characteristic.value = value
        server.write_request_func = write
        properties = (GATTCharacteristicProperties.read | GATTCharacteristicProperties.write
                      | GATTCharacteristicProperties.notify)
        permissions = GATTAttributePermissions.readable | GATTAttributePermissions.writeable
        await server.add_new_service(SERVICE)
        await server.add_new_characteristic(SERVICE, CHARACTERISTIC, properties, bytearray(b"\x69"), permissions)
        await server.start()
        return server

    async def ble(self, *arguments):
        process = await asyncio.create_subprocess_exec(
            harness.BLE, *arguments, "--transport", f"unix-client:{self.world.controllers[1]}",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, error = await process.communicate()
        self.assertEqual(process.returncode, 0, error.decode())
        return output.decode()

    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 2 * harness.LIMIT))

    def test_values(self):
        async def use():
            server = await self.serve()
            self.assertEqual((await self.ble("read", "Blessed", CHARACTERISTIC)).strip(), "69")
            await self.ble("write", "Blessed", CHARACTERISTIC, "0102")
            self.assertEqual((await self.ble("read", "Blessed", CHARACTERISTIC)).strip(), "01 02")
            await server.stop()
        self.run_async(use())

    def test_notifications(self):
        async def use():
            server = await self.serve()
            receiver = asyncio.create_task(self.ble("notify", "Blessed", CHARACTERISTIC, "--count", "3"))
            number = 0
            while not receiver.done():
                number = (number + 1) % 256
                server.get_characteristic(CHARACTERISTIC).value = bytearray([number])
                server.update_value(SERVICE, CHARACTERISTIC)
                await asyncio.wait({receiver}, timeout=0.05)
            self.assertEqual(len((await receiver).splitlines()), 3)
            await server.stop()
        self.run_async(use())

    def test_killed_application(self):
        """The services and the advertising of a program that is killed are gone."""
        async def use():
            program = await asyncio.create_subprocess_exec(
                sys.executable, __file__, env=self.world.environment, stdout=subprocess.PIPE)
            await program.stdout.readline()
            self.assertIn("69", await self.ble("read", "Blessed", CHARACTERISTIC))
            program.kill()
            await program.wait()
            with self.assertRaises(AssertionError):
                await self.ble("read", "Blessed", CHARACTERISTIC, "--timeout", "2")
        self.run_async(use())


async def main():
    test = WithBless()
    server = await test.serve()
    print("serving", flush=True)
    await asyncio.Event().wait()
    del server


if __name__ == "__main__":
    asyncio.run(main())
