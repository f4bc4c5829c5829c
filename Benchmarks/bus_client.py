"""A client of org.bluez for benchmarks."""
import asyncio

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
CHARACTERISTIC = "org.bluez.GattCharacteristic1"
# Seconds until something must have happened, also in valgrind.
LIMIT = 600


class Client:
    """A program on the bus that counts signals."""

    def __init__(self, bus):
        self.bus = bus
        self.objects = {}
        self.counts = {}
        self.changed = asyncio.Condition()
        bus.add_message_handler(self.receive)

    @classmethod
    async def connect(cls, address):
        client = cls(await MessageBus(bus_address=address).connect())
        await client.bus.call(Message(
            destination="org.freedesktop.DBus", path="/org/freedesktop/DBus", interface="org.freedesktop.DBus",
            member="AddMatch", signature="s", body=["type='signal',sender='org.bluez'"]))
        return client

    def receive(self, message):
        if message.message_type is not MessageType.SIGNAL:
            return
        if message.member == "InterfacesAdded":
            self.objects.setdefault(message.body[0], {}).update(message.body[1])
        elif message.member == "PropertiesChanged":
            for name in message.body[1]:
                self.counts[name] = self.counts.get(name, 0) + 1
        else:
            return
        asyncio.ensure_future(self.wake())

    async def wake(self):
        async with self.changed:
            self.changed.notify_all()

    async def wait_for(self, condition):
        async def wait():
            async with self.changed:
                await self.changed.wait_for(condition)
        await asyncio.wait_for(wait(), LIMIT)

    async def call(self, path, interface, member, signature="", *body):
        reply = await self.bus.call(Message(destination="org.bluez", path=path, interface=interface, member=member,
                                            signature=signature, body=list(body)))
        if reply.message_type is MessageType.ERROR:
            raise AssertionError(f"{member}: {reply.error_name} {reply.body}")

    async def discover(self):
        await self.call(ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}",
                        {"Transport": Variant("s", "le"), "DuplicateData": Variant("b", True)})
        await self.call(ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
