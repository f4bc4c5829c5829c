"""A private bus, a radio, a device, and ble-bus between them, as processes."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
BLE_BUS = os.environ.get("BLE_BUS", str(PACKAGE / ".build/debug/ble-bus"))
# The library's program, for a radio and a device on it.
BLE = str(pathlib.Path(os.environ.get("BLUETOOTH_BINARIES", PACKAGE.parent / ".build/debug")).absolute() / "ble")
CYCLES = int(os.environ.get("CYCLES", "10"))
KILLS = int(os.environ.get("KILLS", "10"))

# How long a step may take that takes a moment on a machine with nothing else to do.
LIMIT = 60


def wait_for(condition, what, seconds=LIMIT):
    """A test waits for something that happens, and never for a time to pass."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.02)


class World:
    """A bus, and a radio with as many controllers as needed. Everything ends with the world."""

    def __init__(self, controllers=2, radio_options=()):
        self.stack = contextlib.ExitStack()
        self.directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="ble-bus-")))
        self.log = open(self.directory / "log", "ab")
        self.stack.callback(self.log.close)
        self.address = f"unix:path={self.directory}/bus"
        # The programs of the test look for the system bus.
        self.environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=self.address, XDG_STATE_HOME=str(self.directory))
        self.run("dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={self.address}")
        self.controllers = [self.directory / f"hci{number}" for number in range(controllers)]
        self.radio_options = radio_options
        self.radio = None
        if controllers:
            self.start_radio()
        wait_for((self.directory / "bus").exists, "the bus exists")
        self.daemon = None

    def start_radio(self):
        self.radio = self.run(BLE, "radio", *self.radio_options, *[f"unix-server:{path}" for path in self.controllers])
        for path in self.controllers:
            wait_for(path.exists, f"{path} exists")

    def run(self, *command, **options):
        """Starts a program, which ends with the world."""
        process = subprocess.Popen(
            command, env=self.environment, stdout=options.pop("stdout", self.log), stderr=self.log, **options)

        def end():
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        self.stack.callback(end)
        return process

    def start(self, *options, controller=0):
        """Starts ble-bus, and waits until it is on the bus with its adapter."""
        self.daemon = self.run(
            BLE_BUS, "--transport", f"unix-client:{self.controllers[controller]}", "--bonds",
            str(self.directory / "bonds"), *options)
        wait_for(self.has_adapter, "the adapter is on the bus")
        return self.daemon

    def has_adapter(self):
        if self.daemon.poll() is not None:
            raise AssertionError(f"ble-bus has ended:\n{(self.directory / 'log').read_text()}")
        return self.is_true("/org/bluez/hci0", "org.bluez.Adapter1", "Powered")

    def is_connected(self, device):
        return self.is_true(f"/org/bluez/hci0/dev_{device}", "org.bluez.Device1", "Connected")

    def is_true(self, path, interface, name):
        """Whether an object has a property that is true."""
        result = subprocess.run(
            ["dbus-send", f"--bus={self.address}", "--print-reply=literal", "--dest=org.bluez", path,
             "org.freedesktop.DBus.Properties.Get", f"string:{interface}", f"string:{name}"],
            capture_output=True, text=True)
        return "boolean true" in result.stdout

    def serve(self, document, controller=1, *options):
        """Serves a device."""
        return self.run(BLE, "serve", str(document), "--transport", f"unix-client:{self.controllers[controller]}",
                        "--identity", f"C0:00:00:00:00:{controller:02X}", *options)

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def close(self):
        self.stack.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
