"""The calls of Tests/Differential, with the same replies, errors and signals as bluetoothd's."""
import pathlib
import subprocess
import sys
import unittest

import harness

DIRECTORY = pathlib.Path(__file__).parents[1] / "Differential"


class Differential(unittest.TestCase):
    version = "5.66"

    def compare(self, name):
        with harness.World(controllers=4) as world:
            world.start("--profile", self.version)
            recording = world.directory / "recording.jsonl"
            environment = dict(world.environment, BLE=harness.BLE, PEERS=" ".join(map(str, world.controllers[1:])))
            with open(recording, "wb") as output:
                subprocess.run([sys.executable, DIRECTORY / "script.py", name], env=environment, stdout=output,
                               check=True, timeout=5 * harness.LIMIT)
            comparison = subprocess.run(
                [sys.executable, DIRECTORY / "compare.py", self.version, name, recording], capture_output=True, text=True)
            self.assertEqual(comparison.returncode, 0, comparison.stdout)

    def test_central(self):
        self.compare("central")

    def test_information(self):
        self.compare("information")

    def test_pairing(self):
        self.compare("pairing")

    def test_peripheral(self):
        self.compare("peripheral")

    def test_monitors(self):
        self.compare("monitors")


class DifferentialWithCurrent(Differential):
    version = "5.87"

    @unittest.skip("bluetoothd 5.87 reports no devices to monitors in the virtual machine")
    def test_monitors(self):
        pass
