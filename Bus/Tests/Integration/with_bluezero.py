"""bluezero, unmodified, as a central and as a peripheral. Only .ci/long runs these tests: bluezero needs Debian's
python3-dbus and python3-gi, so it runs in Debian's Python. $BLUEZERO is the directory with the module bluezero."""
import os
import subprocess
import unittest

import harness
from with_libraries import thermometer

PYTHON = "/usr/bin/python3"
MODULES = os.environ.get("BLUEZERO", "")

CENTRAL = """
import sys
from bluezero import adapter, central

THERMOMETER, VALUE = (f"0000{uuid}-0000-1000-8000-00805f9b34fb" for uuid in ("1809", "2a1e"))
dongle = list(adapter.Adapter.available())[0]
dongle.nearby_discovery(timeout=3)
device = next(one for one in central.Central.available(dongle.address) if one.name == "Thermometer")
monitor = central.Central(device.address)
value = monitor.add_characteristic(THERMOMETER, VALUE)

def changed(interface, properties, invalidated):
    if list(properties.get("Value", [])) == [3, 4]:
        monitor.quit()

for cycle in range(int(sys.argv[1])):
    monitor.connect()
    value.value = [1, 7]
    assert list(value.value) == [1, 7], list(value.value)
    if cycle == 0:
        value.add_characteristic_cb(changed)
    value.start_notify()
    monitor.run()
    value.stop_notify()
    monitor.disconnect()
"""

PERIPHERAL = """
from bluezero import adapter, async_tools, peripheral

SERVICE, VALUE = "12341000-1234-1234-1234-123456789abc", "12341001-1234-1234-1234-123456789abc"

def notify(notifying, characteristic):
    if notifying:
        async_tools.add_timer_ms(20, update, characteristic)

def update(characteristic):
    characteristic.set_value([7, 8])
    return characteristic.is_notifying

dongle = list(adapter.Adapter.available())[0]
device = peripheral.Peripheral(dongle.address, local_name="Zero")
device.add_service(srv_id=1, uuid=SERVICE, primary=True)
device.add_characteristic(
    srv_id=1, chr_id=1, uuid=VALUE, value=[5, 6], notifying=False, flags=["read", "write", "notify"],
    notify_callback=notify)
device.publish()
"""
VALUE = "12341001-1234-1234-1234-123456789abc"


def has_bluezero():
    return subprocess.run([PYTHON, "-c", "import bluezero.peripheral"], env=dict(os.environ, PYTHONPATH=MODULES),
                          capture_output=True).returncode == 0


@unittest.skipUnless(has_bluezero(), "bluezero is not installed: apt-get install python3-dbus python3-gi, "
                                     "pip install --no-deps --target $BLUEZERO bluezero")
class WithBluezero(unittest.TestCase):
    def setUp(self):
        self.world = harness.World()
        self.addCleanup(self.world.close)
        self.world.environment["PYTHONPATH"] = MODULES
        self.world.start()

    def test_central(self):
        self.world.serve(thermometer(self.world))
        subprocess.run([PYTHON, "-c", CENTRAL, str(harness.CYCLES)], env=self.world.environment, check=True,
                       timeout=harness.LIMIT + 10 * harness.CYCLES)

    def ble(self, *arguments):
        result = subprocess.run(
            [harness.BLE, *arguments, "--transport", f"unix-client:{self.world.controllers[1]}"], capture_output=True,
            text=True, timeout=harness.LIMIT)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_peripheral(self):
        self.world.run(PYTHON, "-c", PERIPHERAL)
        self.assertEqual(self.ble("read", "Zero", VALUE).strip(), "05 06")
        self.ble("write", "Zero", VALUE, "0102")
        self.assertEqual(self.ble("read", "Zero", VALUE).strip(), "01 02")
        self.assertEqual(self.ble("notify", "Zero", VALUE, "--count", "3", "--format", "hex").count("07 08"), 3)


if __name__ == "__main__":
    unittest.main()
