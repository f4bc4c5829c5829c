"""Clients that send what no library sends, and calls at the wrong time."""
import asyncio
import pathlib
import sys
import unittest

import harness
from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from killed import ADAPTER, DEVICE, DOCUMENT, LEVEL, Killed

CHANGING = str(pathlib.Path(__file__).with_name("changing_device.py"))

ADAPTER1, DEVICE1 = "org.bluez.Adapter1", "org.bluez.Device1"
ADVERTISING1, GATT1 = "org.bluez.LEAdvertisingManager1", "org.bluez.GattManager1"
MONITORING1, MONITOR1 = "org.bluez.AdvertisementMonitorManager1", "org.bluez.AdvertisementMonitor1"
OBJECT_MANAGER, PROPERTIES = "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties"


class Client:
    """A program that answers the daemon's calls with what the test says, or not at all."""

    @classmethod
    async def connect(cls, address):
        self = cls()
        self.bus = await MessageBus(bus_address=address).connect()
        self.answers = {}
        self.called = []
        self.bus.add_message_handler(self.handle)
        return self

    def handle(self, message):
        if message.message_type is not MessageType.METHOD_CALL:
            return None
        self.called.append((message.path, message.member))
        answer = self.answers.get((message.path, message.member))
        if answer is None:
            # The library would answer with an error.
            return True
        return Message.new_method_return(message, *answer)

    async def call(self, path, interface, member, signature="", *body):
        return await self.bus.call(Message(destination="org.bluez", path=path, interface=interface, member=member,
                                           signature=signature, body=list(body)))

    async def set(self, path, interface, name, value):
        return await self.call(path, PROPERTIES, "Set", "ssv", interface, name, value)

    async def get(self, path, interface, name):
        reply = await self.call(path, PROPERTIES, "Get", "ss", interface, name)
        return reply.body[0].value if reply.message_type is MessageType.METHOD_RETURN else None

    async def settle(self):
        await self.call("/", "org.freedesktop.DBus.Peer", "Ping")

    async def until(self, condition, what):
        async def poll():
            while not condition():
                await self.settle()
        try:
            await asyncio.wait_for(poll(), harness.LIMIT)
        except asyncio.TimeoutError:
            raise AssertionError(f"still not: {what}; called: {self.called}") from None


def monitor(patterns, signature="a(yyay)"):
    return {MONITOR1: {"Type": Variant("s", "or_patterns"), "Patterns": Variant(signature, patterns)}}


class Hostile(unittest.TestCase):
    setUp, run_async, value = Killed.setUp, Killed.run_async, staticmethod(Killed.value)

    def refused(self, reply, name, text=None):
        self.assertIs(reply.message_type, MessageType.ERROR, reply.body)
        self.assertEqual(reply.error_name, name)
        if text:
            self.assertEqual(reply.body[0], text)

    def test_patterns(self):
        """Patterns with positions that no advertisement has are released, and advertisements still arrive."""
        async def use():
            client = await Client.connect(self.world.address)
            objects = {
                f"/monitors/{number}": monitor(*arguments) for number, arguments in enumerate([
                    ([[2**63 - 1, 9, b"T"]], "a(xyay)"), ([[-1, 9, b"T"]], "a(nyay)"), ([[2**15 - 1, 9, b"T"]], "a(nyay)"),
                    ([[31, 9, b"T"]],), ([[0, 9, b"T" * 32]],), ([[0, 9, b""]],)])}
            objects["/monitors/valid"] = monitor([[0, 9, b"Thermo"]])
            client.answers["/monitors", "GetManagedObjects"] = ("a{oa{sa{sv}}}", [objects])
            client.answers["/monitors/valid", "DeviceFound"] = ("", [])
            await client.call(ADAPTER, MONITORING1, "RegisterMonitor", "o", "/monitors")
            self.world.serve(DOCUMENT)
            await client.until(lambda: ("/monitors/valid", "DeviceFound") in client.called, "the device is found")
            released = {path for path, member in client.called if member == "Release"}
            self.assertEqual(released, set(objects) - {"/monitors/valid"})
        self.run_async(use())

    def test_two_roots(self):
        """A monitor that appears below one root is not released by another."""
        async def use():
            client = await Client.connect(self.world.address)
            for root in ("/a", "/ab", "/b"):
                client.answers[root, "GetManagedObjects"] = ("a{oa{sa{sv}}}", [{}])
                await client.call(ADAPTER, MONITORING1, "RegisterMonitor", "o", root)
            client.bus.send(Message.new_signal(
                "/", OBJECT_MANAGER, "InterfacesAdded", "oa{sa{sv}}", ["/ab/m", monitor([[0, 9, b"T"]])]))
            await client.until(lambda: ("/ab/m", "Activate") in client.called, "the monitor is active")
            await client.settle()
            self.assertEqual([member for path, member in client.called if path == "/ab/m"], ["Activate"])
        self.run_async(use())

    def test_long_alias(self):
        """A name is not longer than the names of devices."""
        async def use():
            client = await Client.connect(self.world.address)
            await client.set(ADAPTER, ADAPTER1, "Alias", Variant("s", "é" * 500_000))
            self.assertEqual(await client.get(ADAPTER, ADAPTER1, "Alias"), "é" * 124)
        self.run_async(use())

    def test_without_power(self):
        """An adapter that is switched off does not advertise, takes no filter, and is not discoverable."""
        async def use():
            client = await Client.connect(self.world.address)
            await client.set(ADAPTER, ADAPTER1, "Powered", Variant("b", False))
            client.answers["/advertisement", "GetAll"] = ("a{sv}", [{"Type": Variant("s", "peripheral")}])
            self.refused(await client.call(ADAPTER, ADVERTISING1, "RegisterAdvertisement", "oa{sv}", "/advertisement", {}),
                         "org.bluez.Error.Failed")
            self.refused(await client.call(ADAPTER, ADAPTER1, "SetDiscoveryFilter", "a{sv}", {}),
                         "org.bluez.Error.NotReady")
            self.refused(await client.set(ADAPTER, ADAPTER1, "Discoverable", Variant("b", True)),
                         "org.bluez.Error.Failed", "Not Powered")
        self.run_async(use())

    def test_pairing_without_a_device(self):
        """A pairing whose device has gone ends when it is cancelled, or the adapter is switched off."""
        async def use():
            client = await Client.connect(self.world.address)
            device = self.world.serve(DOCUMENT, 1, "--pair", "--accept")
            await client.call(ADAPTER, ADAPTER1, "StartDiscovery")
            async def find():
                while DEVICE not in (await client.call("/", OBJECT_MANAGER, "GetManagedObjects")).body[0]:
                    pass
            await asyncio.wait_for(find(), harness.LIMIT)
            self.world.kill(device)
            for end in (
                client.call(DEVICE, DEVICE1, "CancelPairing"), client.call(DEVICE, DEVICE1, "Disconnect"),
                client.set(ADAPTER, ADAPTER1, "Powered", Variant("b", False)),
            ):
                pairing = asyncio.create_task(client.call(DEVICE, DEVICE1, "Pair"))
                await client.settle()
                self.assertIs((await end).message_type, MessageType.METHOD_RETURN)
                self.refused(await pairing, "org.bluez.Error.AuthenticationCanceled")
            await client.set(ADAPTER, ADAPTER1, "Powered", Variant("b", True))
            device = self.world.serve(DOCUMENT, 1, "--pair", "--accept")
            reply = await client.call(DEVICE, DEVICE1, "Pair")
            self.assertIs(reply.message_type, MessageType.METHOD_RETURN, reply.body)
            self.assertTrue(await client.get(DEVICE, DEVICE1, "Bonded"))
        self.run_async(use())

    def test_changing_services(self):
        """Notifications and the battery level go on when a device has changed its services."""
        async def use():
            client = await Client.connect(self.world.address)
            self.world.run(sys.executable, CHANGING, str(self.world.controllers[1]), "C0:00:00:00:00:01")
            values = []
            client.bus.add_message_handler(lambda message: values.append(bytes(message.body[1]["Value"].value)) if (
                message.member == "PropertiesChanged" and "Value" in message.body[1]) else None)
            await client.bus.call(Message(
                destination="org.freedesktop.DBus", path="/", interface="org.freedesktop.DBus", member="AddMatch",
                signature="s", body=["type='signal',sender='org.bluez'"]))
            await client.call(ADAPTER, ADAPTER1, "StartDiscovery")

            async def objects(path):
                while path not in (found := (await client.call("/", OBJECT_MANAGER, "GetManagedObjects")).body[0]):
                    pass
                return found
            await objects(DEVICE)
            reply = await client.call(DEVICE, DEVICE1, "Connect")
            self.assertIs(reply.message_type, MessageType.METHOD_RETURN, reply.body)
            while not await client.get(DEVICE, DEVICE1, "ServicesResolved"):
                pass
            level = next(path for path, interfaces in (await objects(DEVICE)).items()
                         if self.value({path: interfaces}, path, "org.bluez.GattCharacteristic1", "UUID") == LEVEL)
            reply = await client.call(level, "org.bluez.GattCharacteristic1", "StartNotify")
            self.assertIs(reply.message_type, MessageType.METHOD_RETURN, reply.body)
            await client.until(lambda: bytes([22]) in values, "a notification after the change")
            while await client.get(DEVICE, "org.bluez.Battery1", "Percentage") != 22:
                pass
            self.assertTrue(await client.get(level, "org.bluez.GattCharacteristic1", "Notifying"))
        self.run_async(use())

    def test_withdrawn_while_published(self):
        """An application that is withdrawn while it is being registered leaves nothing behind."""
        async def use():
            client = await Client.connect(self.world.address)
            service = {"org.bluez.GattService1": {
                "UUID": Variant("s", "51ff0000-3ed8-46e5-b4f9-d64e2fec021b"), "Primary": Variant("b", True)}}
            client.answers["/app", "GetManagedObjects"] = ("a{oa{sa{sv}}}", [{"/app/service": service}])
            for _ in range(20):
                registering = asyncio.create_task(
                    client.call(ADAPTER, GATT1, "RegisterApplication", "oa{sv}", "/app", {}))
                withdrawn = None
                while withdrawn is not MessageType.METHOD_RETURN and not registering.done():
                    withdrawn = (await client.call(ADAPTER, GATT1, "UnregisterApplication", "o", "/app")).message_type
                reply = await registering
                if reply.message_type is MessageType.ERROR:
                    self.refused(reply, "org.bluez.Error.DoesNotExist")
                await client.call(ADAPTER, GATT1, "UnregisterApplication", "o", "/app")
                self.assertNotIn("51ff0000-3ed8-46e5-b4f9-d64e2fec021b", await client.get(ADAPTER, ADAPTER1, "UUIDs"))
        self.run_async(use())

    def test_silent_client(self):
        """A client that never answers costs only itself."""
        async def use():
            silent, other = [await Client.connect(self.world.address) for _ in range(2)]
            calls = [asyncio.create_task(silent.call(
                ADAPTER, ADVERTISING1, "RegisterAdvertisement", "oa{sv}", f"/silent/{number}", {}))
                for number in range(100)]
            await silent.until(lambda: sum(call.done() for call in calls) == 36, "the others are refused")
            refused = next(call.result() for call in calls if call.done())
            self.refused(refused, "org.bluez.Error.NotPermitted", "Maximum advertisements reached")
            other.answers["/app", "GetManagedObjects"] = ("a{oa{sa{sv}}}", [{"/app/service": {"org.bluez.GattService1": {
                "UUID": Variant("s", "180F"), "Primary": Variant("b", True)}}}])
            reply = await other.call(ADAPTER, GATT1, "RegisterApplication", "oa{sv}", "/app", {})
            self.assertIs(reply.message_type, MessageType.METHOD_RETURN, reply.body)
            silent.bus.disconnect()
            await asyncio.gather(*calls, return_exceptions=True)
        self.run_async(use())


if __name__ == "__main__":
    unittest.main()
