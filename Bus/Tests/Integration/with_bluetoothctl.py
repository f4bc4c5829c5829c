"""bluetoothctl, unmodified, as a client of ble-bus: every pairing model with `ble serve`."""
import pathlib
import unittest

import harness
from terminal import Terminal

DOCUMENT = pathlib.Path(__file__).with_name("thermometer.json")
ADDRESS = "C0:00:00:00:00:01"


class WithBluetoothctl(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.start()

    def begin(self, capability, io, *options):
        """Starts a device and bluetoothctl, and lets bluetoothctl find the device."""
        self.device = Terminal(
            self.world, harness.BLE, "serve", str(DOCUMENT), "--transport",
            f"unix-client:{self.world.controllers[1]}", "--identity", ADDRESS, "--pair", "--io", io,
            "--bonds", str(self.world.directory / "peer"), *options)
        self.control = Terminal(self.world, "bluetoothctl", "--agent", capability)
        self.control.expect("Agent registered")
        self.control.send("scan on")
        self.control.expect(f"Device {ADDRESS}")

    def pair(self):
        self.control.send(f"pair {ADDRESS}")
        self.device.expect("allow it")
        self.device.send("y")

    def end(self):
        self.control.expect("Pairing successful")
        self.control.send(f"info {ADDRESS}")
        self.control.expect("Paired: yes")
        self.control.expect("Bonded: yes")

    def test_values(self):
        self.begin("NoInputNoOutput", "none", "--accept")
        self.control.send(f"connect {ADDRESS}")
        self.control.expect("Connection successful")
        self.control.expect("ServicesResolved: yes")
        self.control.send("gatt.select-attribute 00002a1e-0000-1000-8000-00805f9b34fb")
        self.control.send("gatt.read")
        self.control.expect("01 02")
        self.control.send("gatt.notify on")
        self.control.expect("Notify started")
        self.control.send(f"disconnect {ADDRESS}")
        self.control.expect("ServicesResolved: no")
        self.control.expect("Connected: no")
        self.control.expect("Successful disconnected")

    def test_just_works(self):
        self.begin("NoInputNoOutput", "none", "--accept")
        self.control.send(f"pair {ADDRESS}")
        self.end()
        self.control.send(f"pair {ADDRESS}")
        self.control.expect("org.bluez.Error.AlreadyExists")

    def test_numeric_comparison(self):
        self.begin("KeyboardDisplay", "display-yes-no", "--authenticated")
        self.pair()
        number = self.control.expect(r"Confirm passkey (\d+)").group(1)
        self.control.send("yes")
        self.device.expect(number)
        self.device.send("y")
        self.end()

    def test_requested_authentication(self):
        """A device that does not require protection against man-in-the-middle attacks uses it if it can."""
        self.begin("KeyboardDisplay", "display-yes-no")
        self.pair()
        self.control.expect("Confirm passkey")
        self.control.send("yes")
        self.device.expect("y/n|same|match")
        self.device.send("y")
        self.end()

    def test_authentication_that_is_impossible(self):
        self.begin("KeyboardDisplay", "none", "--accept")
        self.control.send(f"pair {ADDRESS}")
        self.end()

    def test_numbers_that_differ(self):
        self.begin("KeyboardDisplay", "display-yes-no", "--authenticated")
        self.pair()
        self.control.expect(r"Confirm passkey (\d+)")
        self.control.send("no")
        self.control.expect("org.bluez.Error.AuthenticationFailed")

    def test_entering_a_passkey(self):
        self.begin("KeyboardOnly", "display", "--authenticated")
        self.pair()
        passkey = self.device.expect(r"(\d{6})").group(1)
        self.control.expect("Enter passkey")
        self.control.send(passkey)
        self.end()

    def test_showing_a_passkey(self):
        self.begin("DisplayOnly", "keyboard", "--authenticated")
        self.pair()
        passkey = self.control.expect(r"Passkey: (\d{6})").group(1)
        self.device.expect("six digits")
        self.device.send(passkey)
        self.end()

    def test_cancelled_pairing(self):
        self.begin("KeyboardOnly", "display", "--authenticated")
        self.pair()
        self.control.expect("Enter passkey")
        self.control.send("")
        self.device.expect("fail|cancel|refus|declin")

    def test_advertising(self):
        self.control = Terminal(self.world, "bluetoothctl")
        self.control.expect("Agent registered")
        self.control.send("advertise.name Advertised")
        self.control.send("advertise on")
        self.control.expect("Advertising object registered")
        scan = Terminal(self.world, harness.BLE, "scan", "--transport", f"unix-client:{self.world.controllers[1]}")
        scan.expect("Advertised")
        self.control.send("advertise off")
        self.control.expect("Advertising object unregistered")
