#!/usr/bin/env python3
"""Measures the processor time of a whole machine, kernel included, for each read, write, notification and advertisement
that a program on D-Bus makes or receives: with bluetoothd, and with ble-bus in its place. Scripts/benchmark runs this
script, and builds the programs that it needs.

    Benchmarks/beside_bluetoothd.py PEER BLE_BUS [--seconds N] [--operation NAME]

Everything runs in the virtual machine of Scripts/vm, whose clock counts instructions. Client, device and controller are
the same for both: `peer` is an adapter of the kernel, which bluetoothd uses through the kernel's host, and ble-bus
through a user channel. Ends with status 1 if an operation costs more with ble-bus.
"""
import argparse
import asyncio
import json
import pathlib
import shutil
import subprocess
import sys
import time

from bus_client import ADAPTER, CHARACTERISTIC, Client
from dbus_fast import Variant

ROOT = pathlib.Path(__file__).resolve().parents[1]
SOCKET = pathlib.Path("/run/dbus/system_bus_socket")
ADAPTER_DIRECTORY = pathlib.Path("/sys/class/bluetooth/hci0")
DEVICE = ADAPTER + "/dev_00_C0_DE_00_00_01"
ADVERTISERS = ADAPTER + "/dev_00_C0_DE_00_01_"
OPERATIONS = ["idle", "read", "write", "notification", "advertisement"]
DAEMONS = ["bluetoothd", "ble-bus"]
BLUETOOTHD = "/usr/libexec/bluetooth/bluetoothd"
# Operations a second, few enough that each of them wakes all programs.
RATE = 25
DEVICES = 10
LIMIT = 120


# MARK: In the virtual machine


class Processors:
    """Processor time since the start, of the whole machine and of processes."""

    def __init__(self, processes):
        self.processes = processes
        up, idle = map(float, pathlib.Path("/proc/uptime").read_text().split())
        self.time = up
        self.total = up - idle
        self.used = {name: self.of(process) for name, process in processes.items()}

    @staticmethod
    def of(process):
        """Of all threads, in seconds."""
        tasks = pathlib.Path(f"/proc/{process}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def since(self, before):
        return {"seconds": self.time - before.time, "machine": self.total - before.total,
                **{name: used - before.used[name] for name, used in self.used.items()}}


async def pace(seconds, operation):
    """Performs an operation RATE times a second, and returns how often."""
    begin, count = time.monotonic(), 0
    while time.monotonic() < begin + seconds:
        await operation()
        count += 1
        await asyncio.sleep(max(0, begin + count / RATE - time.monotonic()))
    return count


async def measure(name, seconds, processes):
    """Uses the daemon as a program does, and prints the cost of one operation."""
    client = await Client.connect(f"unix:path={SOCKET}")
    await client.call(ADAPTER, "org.freedesktop.DBus.Properties", "Set", "ssv", "org.bluez.Adapter1", "Powered",
                      Variant("b", True))
    await client.discover()
    counted = "Value"
    if name == "advertisement":
        await client.wait_for(lambda: sum(path.startswith(ADVERTISERS) for path in client.objects) >= DEVICES)
        counted = "ManufacturerData"
    else:
        await client.wait_for(lambda: DEVICE in client.objects)
        await client.call(ADAPTER, "org.bluez.Adapter1", "StopDiscovery")
        await client.call(DEVICE, "org.bluez.Device1", "Connect")
        await client.wait_for(lambda: "ServicesResolved" in client.counts)
        path = next(path for path, interfaces in client.objects.items() if CHARACTERISTIC in interfaces)

    async def read():
        await client.call(path, CHARACTERISTIC, "ReadValue", "a{sv}", {})

    async def write():
        await client.call(path, CHARACTERISTIC, "WriteValue", "aya{sv}", bytes(20), {"type": Variant("s", "request")})

    async def none():
        pass

    async def receive(seconds):
        before = client.counts.get(counted, 0)
        await asyncio.sleep(seconds)
        return client.counts.get(counted, 0) - before

    if name == "notification":
        await client.call(path, CHARACTERISTIC, "StartNotify")
        await client.call(path, CHARACTERISTIC, "WriteValue", "aya{sv}", b"\0", {"type": Variant("s", "command")})
    work = {"read": lambda seconds: pace(seconds, read), "write": lambda seconds: pace(seconds, write),
            "idle": lambda seconds: pace(seconds, none)}.get(name, receive)
    await work(4)
    before = Processors(processes)
    count = await work(seconds)
    result = Processors(processes).since(before)
    client.bus.disconnect()
    if count < 0.9 * RATE * seconds:
        raise AssertionError(f"{name}: {count} operations in {seconds} s instead of {RATE * seconds}")
    seconds = result.pop("seconds")
    print(json.dumps({"operation": name, "count": count, "seconds": seconds,
                      "used": {key: value / count for key, value in result.items()}}), flush=True)


def in_machine(arguments):
    """Starts the programs for each daemon and operation, and measures."""
    pathlib.Path("/run/dbus").mkdir(exist_ok=True)
    for name in arguments.operations:
        for daemon in DAEMONS:
            print(daemon, flush=True)
            run(name, daemon, arguments)


def run(name, daemon, arguments):
    """Starts a private bus, and measures one operation on it."""
    # Each run begins without known devices.
    for state in ("/var/lib/bluetooth", "/tmp/bonds"):
        shutil.rmtree(state, ignore_errors=True)
    works = {"notification": ["notification", "100000"], "advertisement": ["report", "100000"]}
    commands = {
        "bus": ["dbus-daemon", "--system", "--nofork", "--nopidfile"],
        "peer": [arguments.peer, "--rate", str(RATE), "--burst", "1", "--round", "100000", "--devices", str(DEVICES),
                 "vhci", *works.get(name, ["read", "100000"])],
        "daemon": [BLUETOOTHD, "-n"] if daemon == "bluetoothd" else [
            arguments.ble_bus, "--transport", "hci-socket:0", "--bonds", "/tmp/bonds"],
    }
    ready = {"bus": SOCKET.exists, "peer": ADAPTER_DIRECTORY.exists, "daemon": has_adapter}
    SOCKET.unlink(missing_ok=True)
    processes = {}
    with open("/tmp/log", "w+") as log:
        try:
            for role, command in commands.items():
                processes[role] = subprocess.Popen(command, stdout=log, stderr=log)
                wait_for(ready[role])
            numbers = {role: process.pid for role, process in processes.items()} | {"client": "self"}
            asyncio.run(asyncio.wait_for(measure(name, arguments.seconds, numbers), arguments.seconds + LIMIT))
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            for process in processes.values():
                process.kill()
                process.wait()
    wait_for(lambda: not ADAPTER_DIRECTORY.exists())


def has_adapter():
    return subprocess.run(
        ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", ADAPTER, "org.freedesktop.DBus.Properties.Get",
         "string:org.bluez.Adapter1", "string:Powered"], capture_output=True).returncode == 0


def wait_for(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("the bus, the adapter or the daemon has not started")
        time.sleep(0.2)


# MARK: On this machine


def run_machine(arguments):
    """The costs in the virtual machine, by operation and daemon."""
    timeout = 600 + 8 * len(arguments.operations) * (arguments.seconds + 20)
    command = [ROOT / "Scripts/vm", "run", "--accel", "icount", "--timeout", str(timeout), sys.executable, __file__,
               "--in-machine", arguments.peer, arguments.ble_bus, "--seconds", str(arguments.seconds)]
    for name in arguments.operations:
        command += ["--operation", name]
    costs, daemon = {}, None
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as machine:
        for line in machine.stdout:
            line = line.strip()
            if line in DAEMONS:
                daemon = line
            elif line.startswith("{"):
                cost = json.loads(line)
                print(f"{daemon}: {line}", file=sys.stderr)
                costs.setdefault(cost["operation"], {})[daemon] = cost["used"]
    if machine.returncode:
        sys.exit(f"Benchmarks/beside_bluetoothd.py: the virtual machine failed with status {machine.returncode}")
    return costs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peer", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("ble_bus", type=lambda path: str(pathlib.Path(path).resolve()))
    parser.add_argument("--seconds", type=int, default=60, help="the time for each operation (default 60)")
    parser.add_argument("--operation", dest="operations", action="append", choices=OPERATIONS)
    parser.add_argument("--in-machine", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.operations = arguments.operations or OPERATIONS
    if arguments.in_machine:
        return in_machine(arguments)
    costs = run_machine(arguments)
    print("| microseconds | machine with bluetoothd | machine with ble-bus | bluetoothd | ble-bus |")
    print("|---|--:|--:|--:|--:|")
    failures = []
    for name, cost in costs.items():
        theirs, ours = cost["bluetoothd"], cost["ble-bus"]
        figures = [theirs["machine"], ours["machine"], theirs["daemon"], ours["daemon"]]
        print(f"| {name} | " + " | ".join(f"{1e6 * figure:,.0f}" for figure in figures) + " |")
        if ours["machine"] > theirs["machine"]:
            failures.append(name)
    for name in failures:
        print(f"Benchmarks/beside_bluetoothd.py: {name} costs more with ble-bus", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
