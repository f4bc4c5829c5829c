"""Clients and daemons that are killed, an adapter that disappears, and clients that flood."""
import asyncio
import os
import pathlib
import random
import subprocess
import sys
import unittest

import bleak
import harness
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

DOCUMENT = pathlib.Path(__file__).with_name("thermometer.json")
LEVEL = "00002a19-0000-1000-8000-00805f9b34fb"
ADAPTER = "/org/bluez/hci0"
DEVICE = ADAPTER + "/dev_C0_00_00_00_00_01"


class Killed(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.start()
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.world.address

    def run_async(self, coroutine, seconds=2 * harness.LIMIT):
        return asyncio.run(asyncio.wait_for(coroutine, seconds))

    async def connect(self):
        return await MessageBus(bus_address=self.world.address).connect()

    async def call(self, bus, path, interface, member, signature="", body=()):
        return await bus.call(Message(destination="org.bluez", path=path, interface=interface, member=member,
                                      signature=signature, body=list(body)))

    async def objects(self, bus):
        reply = await self.call(bus, "/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        return reply.body[0] if reply.message_type is MessageType.METHOD_RETURN else {}

    async def wait_for(self, bus, condition, what):
        """Waits until the objects on the bus meet a condition."""
        async def poll():
            while True:
                objects = await self.objects(bus)
                if condition(objects):
                    return objects
                await asyncio.sleep(0.02)
        try:
            return await asyncio.wait_for(poll(), harness.LIMIT)
        except asyncio.TimeoutError:
            raise AssertionError(f"still not: {what}") from None

    @staticmethod
    def value(objects, path, interface, name):
        variant = objects.get(path, {}).get(interface, {}).get(name)
        return variant.value if variant else None

    def test_killed_clients(self):
        """Nothing of a client is left when it is killed, whatever it was doing."""
        async def use():
            self.world.serve(DOCUMENT)
            bus = await self.connect()
            for _ in range(harness.KILLS):
                client = await asyncio.create_subprocess_exec(
                    sys.executable, __file__, env=self.world.environment, stdout=subprocess.PIPE)
                await client.stdout.readline()
                await asyncio.sleep(random.uniform(0, 0.6))
                client.kill()
                await client.wait()
                await self.wait_for(
                    bus, lambda objects: self.value(objects, ADAPTER, "org.bluez.Adapter1", "Discovering") is False
                    and not self.value(objects, DEVICE, "org.bluez.Device1", "Connected")
                    and not any(self.value(objects, path, "org.bluez.GattCharacteristic1", name)
                                for path in objects for name in ("Notifying", "NotifyAcquired", "WriteAcquired")),
                    "nothing of the killed client is left")
            bus.disconnect()
        self.run_async(use(), 20 * harness.KILLS + harness.LIMIT)

    def test_killed_daemon(self):
        """A daemon that is started after one that was killed finds a bus and a bond store that it can use."""
        async def use():
            for _ in range(harness.KILLS):
                await asyncio.sleep(random.uniform(0, 0.3))
                self.world.kill(self.world.daemon)
                self.world.start()
            self.world.serve(DOCUMENT)
            device = await bleak.BleakScanner.find_device_by_name("Thermometer", timeout=harness.LIMIT)
            async with bleak.BleakClient(device) as client:
                self.assertEqual(await client.read_gatt_char(LEVEL), b"\x57")
        self.run_async(use(), 20 * harness.KILLS + harness.LIMIT)

    def test_name_owned(self):
        """A second daemon says who owns the name, and ends."""
        second = subprocess.run(
            [harness.BLE_BUS, "--transport", f"unix-client:{self.world.controllers[1]}"], env=self.world.environment,
            capture_output=True, text=True, timeout=harness.LIMIT)
        self.assertNotEqual(second.returncode, 0)
        self.assertIn(f"pid {self.world.daemon.pid}", second.stderr)

    def test_adapter_lost(self):
        """The adapter's objects disappear with the controller, and come back with it."""
        async def use():
            bus = await self.connect()
            self.world.kill(self.world.radio)
            await self.wait_for(bus, lambda objects: ADAPTER not in objects, "the adapter is gone")
            self.world.start_radio()
            await self.wait_for(
                bus, lambda objects: self.value(objects, ADAPTER, "org.bluez.Adapter1", "Powered"),
                "the adapter is back")
            bus.disconnect()
        self.run_async(use())

    def test_powered(self):
        """An adapter that is switched off refuses to scan, and scans again when it is on."""
        async def use():
            bus = await self.connect()
            for is_on, expected in ((False, MessageType.ERROR), (True, MessageType.METHOD_RETURN)):
                await self.call(bus, ADAPTER, "org.freedesktop.DBus.Properties", "Set", "ssv",
                                ["org.bluez.Adapter1", "Powered", Variant("b", is_on)])
                reply = await self.call(bus, ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
                self.assertIs(reply.message_type, expected, reply.body)
            bus.disconnect()
        self.run_async(use())

    def test_flood(self):
        """A client that floods is refused, and others are served."""
        async def use():
            self.world.serve(DOCUMENT)
            device = await bleak.BleakScanner.find_device_by_name("Thermometer", timeout=harness.LIMIT)
            async with bleak.BleakClient(device) as client:
                path = next(characteristic.obj[0] for characteristic in client.services.characteristics.values()
                            if characteristic.uuid == LEVEL)
                flood = await self.connect()
                calls = []
                for _ in range(20):
                    calls += [asyncio.create_task(self.call(
                        flood, path, "org.bluez.GattCharacteristic1", "ReadValue", "a{sv}", [{}])) for _ in range(50)]
                    # dbus-fast fails if its socket is full.
                    await asyncio.sleep(0.002)
                self.assertEqual(await client.read_gatt_char(LEVEL), b"\x57")
                replies = await asyncio.gather(*calls)
                refused = [reply for reply in replies if reply.message_type is MessageType.ERROR]
                self.assertTrue(all(
                    reply.error_name == "org.freedesktop.DBus.Error.LimitsExceeded" for reply in refused), refused[:1])
                flood.disconnect()
        self.run_async(use())


async def occupy():
    """Scans, connects, subscribes and acquires, until it is killed."""
    print("started", flush=True)
    while True:
        device = await bleak.BleakScanner.find_device_by_name("Thermometer", timeout=harness.LIMIT)
        async with bleak.BleakClient(device) as client:
            await client.start_notify(LEVEL, lambda *_: None)
            for _ in range(20):
                await client.read_gatt_char(LEVEL)


if __name__ == "__main__":
    asyncio.run(occupy())
