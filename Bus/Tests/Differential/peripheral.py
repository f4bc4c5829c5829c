"""A peripheral: the application and the advertisement of a program, with the tool as the central."""
import asyncio
import socket

from dbus_fast import Variant
from recorder import ADAPTER, CHARACTERISTIC1, DESCRIPTOR1, Failure

MANAGER1, ADVERTISING1 = "org.bluez.GattManager1", "org.bluez.LEAdvertisingManager1"
APPLICATION, ADVERTISEMENT = "/application", "/advertisement"
SERVICE = APPLICATION + "/service"
NAME = "Recorded"
# Of the first controller on the radio. The tool finds a device by its address sooner than by its name.
ADDRESS = "00:1B:DC:00:00:01/P"


def uuid(number):
    return f"51ff{number:04x}-3ed8-46e5-b4f9-d64e2fec021b"


# Numbers of the UUIDs, and the flags.
CHARACTERISTICS = {
    1: ["read", "write", "notify"],
    2: ["read", "write"],
    3: ["write-without-response"],
    4: ["indicate"],
    5: ["write-without-response", "notify"],
}
DESCRIPTOR = 6


def characteristic(number):
    return f"{SERVICE}/characteristic{number}"


class Application:
    """The objects of the program, and what it answers."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.values = {characteristic(1): b"\x01\x02\x03", f"{characteristic(1)}/descriptor": b"\x06"}
        self.sockets = {}
        answers = recorder.answers
        answers[(APPLICATION, "GetManagedObjects")] = lambda message: ("a{oa{sa{sv}}}", [self.objects()])
        answers[(ADVERTISEMENT, "GetAll")] = lambda message: ("a{sv}", [self.advertisement()])
        answers[(ADVERTISEMENT, "Release")] = lambda message: None
        for path in self.values:
            answers[(path, "ReadValue")] = self.read
            answers[(path, "WriteValue")] = self.write
        answers[(characteristic(2), "ReadValue")] = self.refuse("org.bluez.Error.NotPermitted", "not now")
        answers[(characteristic(2), "WriteValue")] = self.refuse("org.bluez.Error.Failed", "0x80")
        answers[(characteristic(3), "WriteValue")] = lambda message: None
        for number in CHARACTERISTICS:
            answers[(characteristic(number), "StartNotify")] = self.notify
            answers[(characteristic(number), "StopNotify")] = lambda message: None
            answers[(characteristic(number), "Confirm")] = lambda message: None
        for member in ("AcquireWrite", "AcquireNotify"):
            answers[(characteristic(5), member)] = self.acquire

    @staticmethod
    def advertisement():
        return {"Type": Variant("s", "peripheral"), "LocalName": Variant("s", NAME),
                "ServiceUUIDs": Variant("as", ["1809"])}

    def objects(self):
        objects = {SERVICE: {"org.bluez.GattService1": {"UUID": Variant("s", uuid(0)), "Primary": Variant("b", True)}}}
        for number, flags in CHARACTERISTICS.items():
            objects[characteristic(number)] = {CHARACTERISTIC1: {
                "UUID": Variant("s", uuid(number)), "Service": Variant("o", SERVICE), "Flags": Variant("as", flags)}}
        for name in ("WriteAcquired", "NotifyAcquired"):
            objects[characteristic(5)][CHARACTERISTIC1][name] = Variant("b", False)
        objects[f"{characteristic(1)}/descriptor"] = {DESCRIPTOR1: {
            "UUID": Variant("s", uuid(DESCRIPTOR)), "Characteristic": Variant("o", characteristic(1)),
            "Flags": Variant("as", ["read", "write"])}}
        return objects

    def read(self, message):
        offset = message.body[0]["offset"].value if "offset" in message.body[0] else 0
        return "ay", [self.values[message.path][offset:]]

    def write(self, message):
        offset = message.body[1]["offset"].value if "offset" in message.body[1] else 0
        self.values[message.path] = self.values[message.path][:offset] + bytes(message.body[0])

    @staticmethod
    def refuse(name, text):
        def answer(message):
            raise Failure(name, text)
        return answer

    def notify(self, message):
        """Announces a value once the central has subscribed."""
        asyncio.get_running_loop().call_later(
            0.3, self.recorder.emit, message.path, CHARACTERISTIC1, {"Value": Variant("ay", b"\x07\x08")})

    def acquire(self, message):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.sockets[message.member] = ours
        if message.member == "AcquireNotify":
            asyncio.get_running_loop().call_later(0.3, ours.send, b"\x09")
        else:
            asyncio.get_running_loop().add_reader(
                ours, lambda: self.received(ours))
        return "hq", [theirs.detach(), message.body[0]["mtu"].value]

    def received(self, ours):
        octets = ours.recv(600)
        if octets:
            self.recorder.write(received=octets.hex())
            self.recorder.events.put_nowait((characteristic(5), "received", True))
        else:
            asyncio.get_running_loop().remove_reader(ours)


async def record(recorder):
    call, wait_for, use = recorder.call, recorder.wait_for, recorder.use
    application = Application(recorder)
    # The central's services are discovered in an order that depends on the central.
    recorder.ignored = ("/dev_",)

    await call(ADAPTER, MANAGER1, "RegisterApplication", "oa{sv}", APPLICATION, {})
    await call(ADAPTER, MANAGER1, "RegisterApplication", "oa{sv}", APPLICATION, {})
    await call(ADAPTER, ADVERTISING1, "RegisterAdvertisement", "oa{sv}", ADVERTISEMENT, {})
    await call(ADAPTER, ADVERTISING1, "RegisterAdvertisement", "oa{sv}", ADVERTISEMENT, {})
    await recorder.settle()

    hexadecimal = ("--format", "hex")
    await use(1, "read", ADDRESS, uuid(1), *hexadecimal)
    await use(1, "read", ADDRESS, uuid(DESCRIPTOR), *hexadecimal)
    await use(1, "read", ADDRESS, uuid(2), *hexadecimal)
    await use(1, "write", ADDRESS, uuid(1), "0A0B")
    await use(1, "write", ADDRESS, uuid(1), "0C" * 300)
    await use(1, "read", ADDRESS, uuid(1), *hexadecimal)
    await use(1, "write", ADDRESS, uuid(DESCRIPTOR), "0D")
    await use(1, "write", ADDRESS, uuid(2), "0E")
    await use(1, "write", ADDRESS, uuid(3), "0F", until=(characteristic(3), "WriteValue"))
    for number in (1, 4):
        await use(1, "notify", ADDRESS, uuid(number), "--count", "1", *hexadecimal,
                  until=(characteristic(number), "StopNotify"))
    await use(1, "notify", ADDRESS, uuid(5), "--count", "1", *hexadecimal)
    # bluetoothd sometimes passes on another octet: while it waits for the socket, it keeps a pointer to a packet that it
    # has freed. The recordings have the right one.
    await use(1, "write", ADDRESS, uuid(5), "10", until=(characteristic(5), "received"))

    await call(ADAPTER, ADVERTISING1, "UnregisterAdvertisement", "o", ADVERTISEMENT)
    await call(ADAPTER, ADVERTISING1, "UnregisterAdvertisement", "o", ADVERTISEMENT)
    await call(ADAPTER, MANAGER1, "UnregisterApplication", "o", APPLICATION)
    await call(ADAPTER, MANAGER1, "UnregisterApplication", "o", APPLICATION)

    # Objects that are incomplete or contradict themselves.
    recorder.answers[(APPLICATION, "GetManagedObjects")] = lambda message: ("a{oa{sa{sv}}}", [{}])
    await call(ADAPTER, MANAGER1, "RegisterApplication", "oa{sv}", APPLICATION, {})
    objects = application.objects()
    del objects[characteristic(1)][CHARACTERISTIC1]["UUID"]
    recorder.answers[(APPLICATION, "GetManagedObjects")] = lambda message: ("a{oa{sa{sv}}}", [objects])
    await call(ADAPTER, MANAGER1, "RegisterApplication", "oa{sv}", APPLICATION, {})
    for changed in ({"Type": Variant("s", "none")}, {"ServiceUUIDs": Variant("as", ["none"])},
                    {"LocalName": Variant("s", "x" * 40)}):
        values = application.advertisement() | changed
        recorder.answers[(ADVERTISEMENT, "GetAll")] = lambda message, values=values: ("a{sv}", [values])
        await call(ADAPTER, ADVERTISING1, "RegisterAdvertisement", "oa{sv}", ADVERTISEMENT, {})
    await recorder.settle()
