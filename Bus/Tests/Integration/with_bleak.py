"""bleak, unmodified, as a client of ble-bus."""
import asyncio
import os
import pathlib
import unittest

import bleak
import harness
from dbus_fast import Message, Variant
from dbus_fast.aio import MessageBus

DOCUMENT = pathlib.Path(__file__).with_name("thermometer.json")
LEVEL = "00002a19-0000-1000-8000-00805f9b34fb"
INTERMEDIATE = "00002a1e-0000-1000-8000-00805f9b34fb"


class WithBleak(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.start()
        self.world.serve(DOCUMENT)
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = self.world.address

    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, harness.LIMIT))

    async def find(self):
        device = await bleak.BleakScanner.find_device_by_name("Thermometer", timeout=harness.LIMIT)
        self.assertIsNotNone(device)
        return device

    def test_scan(self):
        async def scan():
            device = await self.find()
            self.assertEqual(device.address, "C0:00:00:00:00:01")
        self.run_async(scan())

    def test_values(self):
        async def use():
            async with bleak.BleakClient(await self.find()) as client:
                uuids = {service.uuid[4:8] for service in client.services}
                self.assertLessEqual({"180f", "1809"}, uuids)
                self.assertEqual(await client.read_gatt_char(LEVEL), b"\x57")
                await client.write_gatt_char(INTERMEDIATE, b"\x01\x02", response=True)
                self.assertEqual(await client.read_gatt_char(INTERMEDIATE), b"\x01\x02")
                await client.write_gatt_char(INTERMEDIATE, b"\x03\x04", response=False)
                self.assertEqual(await client.read_gatt_char(INTERMEDIATE), b"\x03\x04")
        self.run_async(use())

    def test_offset(self):
        """A write from an offset on leaves the octets before it. bleak has no offset, so the call is made here."""
        async def use():
            async with bleak.BleakClient(await self.find()) as client:
                await client.write_gatt_char(INTERMEDIATE, b"\x01\x02", response=True)
                path = client.services.get_characteristic(INTERMEDIATE).obj[0]
                bus = await MessageBus(bus_address=self.world.address).connect()
                for kind, error in (("request", None), ("command", "org.bluez.Error.NotSupported")):
                    reply = await bus.call(Message(
                        destination="org.bluez", path=path, interface="org.bluez.GattCharacteristic1",
                        member="WriteValue", signature="aya{sv}",
                        body=[b"\x05\x06", {"offset": Variant("q", 1), "type": Variant("s", kind)}]))
                    self.assertEqual(reply.error_name, error, reply.body)
                bus.disconnect()
                self.assertEqual(await client.read_gatt_char(INTERMEDIATE), b"\x01\x05\x06")
        self.run_async(use())

    def test_cycles(self):
        async def use():
            for _ in range(harness.CYCLES):
                device = await self.find()
                async with bleak.BleakClient(device) as client:
                    self.assertEqual(await client.read_gatt_char(LEVEL), b"\x57")
                    await client.start_notify(LEVEL, lambda *_: None)
                    await client.stop_notify(LEVEL)
        asyncio.run(asyncio.wait_for(use(), harness.LIMIT + 10 * harness.CYCLES))
