"""A client's application that exchanges values over sockets: AcquireWrite and AcquireNotify of its characteristics.
`ble` is the central."""
import asyncio
import os
import socket
import subprocess
import unittest

import harness
from dbus_fast import DBusError, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import PropertyAccess, ServiceInterface, dbus_property, method

UUID = "51ff12bb-3ed8-46e5-b4f9-d64e2fec021b"


class Service(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.GattService1")

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return "a07498ca-ad5b-474e-940d-16f1fbe7e8cd"

    @dbus_property(access=PropertyAccess.READ)
    def Primary(self) -> "b":
        return True


class Characteristic(ServiceInterface):
    """Has a socket for each direction, unless it refuses to provide one."""

    def __init__(self, refuses=False):
        super().__init__("org.bluez.GattCharacteristic1")
        self.refuses = refuses
        self.written, self.notifying, self.options = asyncio.Queue(), asyncio.Event(), None

    @dbus_property(access=PropertyAccess.READ)
    def UUID(self) -> "s":
        return UUID

    @dbus_property(access=PropertyAccess.READ)
    def Service(self) -> "o":
        return "/application/service"

    @dbus_property(access=PropertyAccess.READ)
    def Flags(self) -> "as":
        return ["write", "write-without-response", "notify"]

    @dbus_property(access=PropertyAccess.READ)
    def WriteAcquired(self) -> "b":
        return False

    @dbus_property(access=PropertyAccess.READ)
    def NotifyAcquired(self) -> "b":
        return False

    def pair(self):
        if self.refuses:
            raise DBusError("org.bluez.Error.NotSupported", "no socket")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        return ours, theirs.detach()

    @method()
    def AcquireWrite(self, options: "a{sv}") -> "hq":
        ours, theirs = self.pair()
        self.options = options
        asyncio.get_running_loop().add_reader(ours, lambda: self.written.put_nowait(ours.recv(512)))
        return [theirs, 64]

    @method()
    def AcquireNotify(self, options: "a{sv}") -> "hq":
        self.notify_socket, self.sent_socket = self.pair()
        self.notifying.set()
        return [self.sent_socket, 64]

    @method()
    def WriteValue(self, value: "ay", options: "a{sv}"):
        self.written.put_nowait(b"called " + bytes(value))

    @method()
    def StartNotify(self):
        self.notifying.set()

    @method()
    def StopNotify(self):
        self.notifying.clear()


class Advertisement(ServiceInterface):
    def __init__(self):
        super().__init__("org.bluez.LEAdvertisement1")

    @dbus_property(access=PropertyAccess.READ)
    def Type(self) -> "s":
        return "peripheral"

    @dbus_property(access=PropertyAccess.READ)
    def LocalName(self) -> "s":
        return "Sockets"


class WithSockets(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.start()

    def run_async(self, coroutine):
        return asyncio.run(asyncio.wait_for(coroutine, 2 * harness.LIMIT))

    async def serve(self, characteristic):
        bus = await MessageBus(bus_address=self.world.address, negotiate_unix_fd=True).connect()
        bus.export("/application/service", Service())
        bus.export("/application/service/characteristic", characteristic)
        bus.export("/advertisement", Advertisement())
        for interface, member, path in (("GattManager1", "RegisterApplication", "/application"),
                                        ("LEAdvertisingManager1", "RegisterAdvertisement", "/advertisement")):
            reply = await bus.call(Message(
                destination="org.bluez", path="/org/bluez/hci0", interface=f"org.bluez.{interface}", member=member,
                signature="oa{sv}", body=[path, {}]))
            self.assertIs(reply.message_type, MessageType.METHOD_RETURN, reply.body)
        return bus

    async def ble(self, *arguments):
        process = await asyncio.create_subprocess_exec(
            harness.BLE, *arguments, "--transport", f"unix-client:{self.world.controllers[1]}",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, error = await process.communicate()
        self.assertEqual(process.returncode, 0, error.decode())
        return output.decode()

    def test_writes(self):
        """Writes of peers arrive on the socket that the application provides at the first one."""
        async def use():
            characteristic = Characteristic()
            bus = await self.serve(characteristic)
            for value in ("0102", "03"):
                await self.ble("write", "Sockets", UUID, value)
                self.assertEqual((await characteristic.written.get()).hex(), value)
            self.assertLessEqual({"device", "mtu", "link"}, set(characteristic.options))
            bus.disconnect()
        self.run_async(use())

    def test_notifications(self):
        """Values from the application's socket reach the subscriber, and the socket is closed when it leaves."""
        async def use():
            characteristic = Characteristic()
            bus = await self.serve(characteristic)
            for _ in range(2):
                receiver = asyncio.create_task(self.ble("notify", "Sockets", UUID, "--count", "3", "--format", "hex"))
                await characteristic.notifying.wait()
                for value in (b"\x07", b"\x08", b"\x09"):
                    await asyncio.get_running_loop().sock_sendall(characteristic.notify_socket, value)
                output = await receiver
                # A copy was sent.
                os.close(characteristic.sent_socket)
                self.assertEqual([value for value in ("07", "08", "09") if value in output], ["07", "08", "09"])
                self.assertEqual(await asyncio.get_running_loop().sock_recv(characteristic.notify_socket, 1), b"")
                characteristic.notifying.clear()
            bus.disconnect()
        self.run_async(use())

    def test_refused(self):
        """An application that provides no socket is called."""
        async def use():
            characteristic = Characteristic(refuses=True)
            bus = await self.serve(characteristic)
            await self.ble("write", "Sockets", UUID, "0102")
            self.assertEqual(await characteristic.written.get(), b"called \x01\x02")
            receiver = asyncio.create_task(self.ble("notify", "Sockets", UUID, "--count", "1", "--format", "hex"))
            await characteristic.notifying.wait()
            bus.send(Message.new_signal(
                "/application/service/characteristic", "org.freedesktop.DBus.Properties", "PropertiesChanged",
                "sa{sv}as", ["org.bluez.GattCharacteristic1", {"Value": Variant("ay", b"\x2a")}, []]))
            self.assertIn("2a", (await receiver).lower())
            while characteristic.notifying.is_set():
                await asyncio.sleep(0.02)
            bus.disconnect()
        self.run_async(use())
