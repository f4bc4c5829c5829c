"""Records every call, reply, error and signal of a program that uses org.bluez, as lines of JSON in the order in which
they arrive."""
import asyncio
import contextlib
import json
import os
import subprocess

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

ADAPTER = "/org/bluez/hci0"
ADAPTER1, DEVICE1 = "org.bluez.Adapter1", "org.bluez.Device1"
CHARACTERISTIC1, DESCRIPTOR1 = "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1"
OBJECT_MANAGER, PROPERTIES = "org.freedesktop.DBus.ObjectManager", "org.freedesktop.DBus.Properties"
# Properties that differ from run to run, or from machine to machine.
VOLATILE = {"RSSI", "TxPower", "Alias", "Name", "Address", "AddressType", "Modalias", "Class"}
# Passkeys are random.
PASSKEY_METHODS = {"RequestConfirmation", "DisplayPasskey"}
LIMIT = 60
# The other side: the tool, and the controllers that it may use.
BLE = os.environ.get("BLE", "ble")
PEERS = os.environ.get("PEERS", "").split()


def device(number):
    """The path of the device with the identity of a peer."""
    return f"{ADAPTER}/dev_C0_00_00_00_00_{number:02X}"


def identity(number):
    return f"C0:00:00:00:00:{number:02X}"


def plain(value):
    if isinstance(value, Variant):
        return {value.signature: plain(value.value)}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in sorted(value.items(), key=lambda pair: str(pair[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def properties(path, values):
    """Properties without the values that differ between machines."""
    result = {}
    for name, variant in sorted(values.items()):
        is_volatile = name in VOLATILE and path == ADAPTER or name in {"RSSI", "TxPower"}
        # The services of this machine's daemon.
        if path == ADAPTER and name == "UUIDs":
            is_volatile = True
        result[name] = {variant.signature: "…"} if is_volatile else plain(variant)
    return result


class Failure(Exception):
    """The error with which a call of the daemon is answered."""

    def __init__(self, name, text=""):
        super().__init__(name)
        self.name, self.text = name, text


class Recorder:
    def __init__(self, bus, output):
        self.bus, self.output = bus, output
        self.events = asyncio.Queue()
        # The call whose reply is recorded.
        self.serial = None
        # What the daemon may call, by path and member: functions of the message, which return a signature and a body.
        self.answers = {}
        # The devices that were found, by monitor.
        self.found = set()
        # Whether nothing is recorded for now.
        self.is_paused = False
        # Parts of objects whose signals are not recorded, because their order depends on the other side.
        self.ignored = ()
        self.stack = contextlib.ExitStack()
        bus.add_message_handler(self.received)

    @classmethod
    async def connect(cls, output):
        address = os.environ.get("DBUS_SYSTEM_BUS_ADDRESS")
        bus = MessageBus(bus_address=address, negotiate_unix_fd=True) if address else MessageBus(
            bus_type=BusType.SYSTEM, negotiate_unix_fd=True)
        await bus.connect()
        await bus.call(Message(destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
                               interface="org.freedesktop.DBus", member="AddMatch", signature="s",
                               body=["type='signal',sender='org.bluez'"]))
        return cls(bus, output)

    def close(self):
        self.stack.close()
        self.bus.disconnect()

    def write(self, **entry):
        if self.is_paused:
            return
        print(json.dumps(entry, ensure_ascii=False, sort_keys=True), flush=True, file=self.output)

    # MARK: What arrives

    def received(self, message):
        # Recorded here, because a signal after the reply may arrive before the task that waits for the reply resumes.
        if self.serial is not None and message.reply_serial == self.serial:
            if message.message_type is MessageType.ERROR:
                self.write(error=message.error_name, text=message.body[0] if message.body else "")
            else:
                self.write(reply=plain(message.body), signature=message.signature)
        if message.message_type is MessageType.METHOD_CALL:
            return self.answer(message)
        if message.message_type is MessageType.SIGNAL and message.path.startswith("/"):
            self.received_signal(message)
        return None

    def answer(self, message):
        """Records and answers a call of the daemon."""
        arguments = plain(message.body)
        if message.member in PASSKEY_METHODS:
            arguments[1] = "…"
        # bluetoothd repeats this call with each advertisement.
        is_repeated = message.member == "DeviceFound" and (message.path, arguments[0]) in self.found
        if message.member == "DeviceFound":
            self.found.add((message.path, arguments[0]))
        if not is_repeated:
            self.write(called=message.member, path=message.path, interface=message.interface, arguments=arguments)
        self.events.put_nowait((message.path, message.member, True))
        answer = self.answers.get((message.path, message.member))
        if answer is None:
            return Message.new_error(message, "org.freedesktop.DBus.Error.UnknownMethod", "no such method")
        try:
            signature, body = answer(message) or ("", [])
        except Failure as failure:
            return Message.new_error(message, failure.name, failure.text)
        descriptors = [value for value in body if signature.startswith("h")][:1]
        if descriptors:
            return Message.new_method_return(message, signature, [0, *body[1:]], unix_fds=descriptors)
        return Message.new_method_return(message, signature, body)

    def received_signal(self, message):
        body = message.body
        if message.sender == "org.freedesktop.DBus" or any(part in message.path for part in self.ignored):
            return
        if message.member == "PropertiesChanged":
            changed = properties(message.path, body[1])
            invalidated = sorted(body[2])
            if set(changed) | set(invalidated) <= {"RSSI", "TxPower", "ManufacturerData", "ServiceData"}:
                return
            self.write(signal="PropertiesChanged", path=message.path, interface=body[0], changed=changed,
                       invalidated=invalidated)
            for name in changed:
                self.events.put_nowait((message.path, name, body[1][name].value))
        elif message.member in ("InterfacesAdded", "InterfacesRemoved"):
            if any(part in body[0] for part in self.ignored):
                return
            is_added = message.member == "InterfacesAdded"
            if not body[0].startswith(ADAPTER + "/dev_C0_00") and not (is_added and body[0] == ADAPTER):
                return
            interfaces = sorted(body[1])
            if is_added:
                interfaces = {name: properties(body[0], values) for name, values in body[1].items()}
            self.write(signal=message.member, path=body[0], interfaces=interfaces)
            self.events.put_nowait((body[0], message.member, True))

    async def wait_for(self, path, name, value=True):
        """Waits for a property, an object or a call of the daemon."""
        await self.wait_for_any((path, name, value))

    async def wait_for_any(self, *expected):
        """Waits for the first of some events, and returns it."""
        async def poll():
            while (event := await self.events.get()) not in expected:
                pass
            return event
        return await asyncio.wait_for(poll(), LIMIT)

    # MARK: What is called

    async def ask(self, path, interface, member, signature="", *body):
        """Makes a call that is not recorded."""
        return await self.bus.call(Message(destination="org.bluez", path=path, interface=interface, member=member,
                                           signature=signature, body=list(body)))

    async def call(self, path, interface, member, signature="", *body):
        self.write(call=member, path=path, interface=interface, arguments=plain(body))
        message = Message(destination="org.bluez", path=path, interface=interface, member=member, signature=signature,
                          body=list(body))
        message.serial = self.serial = self.bus.next_serial()
        reply = await asyncio.wait_for(self.bus.call(message), LIMIT)
        self.serial = None
        return reply

    def emit(self, path, interface, changed):
        """Announces a changed property of this program's objects."""
        self.bus.send(Message.new_signal(path, PROPERTIES, "PropertiesChanged", "sa{sv}as", [interface, changed, []]))

    async def settle(self):
        """Waits until earlier signals have arrived: the daemon answers in order."""
        await self.ask("/", "org.freedesktop.DBus.Peer", "Ping")

    async def objects(self):
        return (await self.ask("/", OBJECT_MANAGER, "GetManagedObjects")).body[0]

    async def find(self, interface, uuid, below=ADAPTER):
        """The path of an attribute of a device."""
        return next(path for path, interfaces in sorted((await self.objects()).items())
                    if path.startswith(below) and interface in interfaces
                    and interfaces[interface]["UUID"].value[4:8] == uuid)

    async def discover(self, *paths):
        """Scans until the devices have been found. Not recorded, because devices are found in any order."""
        self.is_paused = True
        for path in paths:
            await self.ask(ADAPTER, ADAPTER1, "RemoveDevice", "o", path)
        await self.ask(ADAPTER, ADAPTER1, "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await self.ask(ADAPTER, ADAPTER1, "StartDiscovery")
        missing = set(paths)
        while missing:
            path, name, _ = await asyncio.wait_for(self.events.get(), LIMIT)
            if name == "InterfacesAdded":
                missing.discard(path)
        await self.ask(ADAPTER, ADAPTER1, "StopDiscovery")
        await self.wait_for(ADAPTER, "Discovering", False)
        self.is_paused = False

    # MARK: The other side

    def peer(self, number, *arguments):
        """The command line and the environment of the tool, with the address of a device."""
        state = f"{os.environ.get('XDG_STATE_HOME', '/tmp')}/peer{number}"
        return ([BLE, *arguments, "--transport", f"unix-client:{PEERS[number - 1]}", "--identity", identity(number)],
                dict(os.environ, XDG_STATE_HOME=state))

    def serve(self, number, document, *arguments):
        """Serves a device until the end of the recording, or until the process that is returned is ended."""
        command, environment = self.peer(number, "serve", str(document), *arguments)
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)

        def end():
            process.kill()
            process.wait()
        self.stack.callback(end)
        return process

    async def use(self, number, *arguments, until=None):
        """Runs the tool as a central, and records what it prints, but first what arrives until an event of that path
        and name, if there is one. The second argument is the device.
        """
        self.write(call="peer", path=arguments[0], arguments=list(arguments[2:]))
        command, environment = self.peer(number, *arguments)
        process = await asyncio.create_subprocess_exec(
            *command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        output, _ = await asyncio.wait_for(process.communicate(), LIMIT)
        if until is not None:
            await self.wait_for(*until)
        self.write(printed=output.decode().splitlines(), status=process.returncode)
