"""Apps that `import CoreBluetooth` (the samples) on the kernel's adapters, and what they observe of each other."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pathlib
from collections.abc import AsyncIterator

from support import client
from support.bluez import BlueZ
from support.processes import ADMINISTRATOR, NOBODY, Process, until
from support.radio import Radio, switched_off

SAMPLES = pathlib.Path(os.environ["KERNEL_SAMPLES"])
HEART_RATE = "0000180d-0000-1000-8000-00805f9b34fb"
MEASUREMENT = "00002a37-0000-1000-8000-00805f9b34fb"
BATTERY_LEVEL = "00002a19-0000-1000-8000-00805f9b34fb"
MANUFACTURER = "00002a29-0000-1000-8000-00805f9b34fb"
LOOKING = "Looking for a heart rate sensor"


class App:
    """A running sample, and its output since it was started."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.before = 0

    def lines(self) -> list[str]:
        return self.process.said()[self.before:].split("\n")[:-1]

    async def says(self, line: str, count: int = 1) -> None:
        await until(lambda: sum(line in said for said in self.lines()) >= count, f"{line!r} in {self.lines()}")

    def forget(self) -> None:
        """Discards its output so far."""
        self.before = len(self.process.said())


@contextlib.asynccontextmanager
async def running(
    name: str, adapter: str, directory: pathlib.Path, *before: str
) -> AsyncIterator[App]:
    """A sample on an adapter."""
    directory.chmod(0o777)
    process = await Process.start(
        name, "env", f"BLUETOOTH_TRANSPORT=hci-socket:{adapter}", f"STATE_DIRECTORY={directory}",
        f"XDG_RUNTIME_DIR={directory}", *before, SAMPLES / name)
    app = App(process)
    try:
        yield app
    finally:
        await process.kill()


async def test_the_samples_meet(radio: Radio, tmp_path: pathlib.Path) -> None:
    async with running("HeartRateSensor", "1", tmp_path) as sensor:
        await sensor.says("advertising")
        async with running("HeartRateMonitor", "0", tmp_path) as monitor:
            await monitor.says("beats per minute", 3)
            await monitor.says("battery at 87 %")
        # After being killed, it continues where it was.
        async with running("HeartRateMonitor", "0", tmp_path) as monitor:
            await monitor.says("beats per minute", 3)
            assert LOOKING not in monitor.lines()


async def test_bluez_is_told_what_the_sensor_measures(bluez: BlueZ, tmp_path: pathlib.Path) -> None:
    async with running("HeartRateSensor", "0", tmp_path, *ADMINISTRATOR) as sensor:
        await sensor.says("advertising")
        measurements: asyncio.Queue[bytes] = asyncio.Queue()
        async with client.connected(await client.found(HEART_RATE, "Heart")) as connection:
            await connection.start_notify(MEASUREMENT, lambda _, value: measurements.put_nowait(bytes(value)))
            async with asyncio.timeout(30):
                for _ in range(3):
                    value = await measurements.get()
                    assert len(value) == 2 and value[0] == 0b0110
            assert await connection.read_gatt_char(BATTERY_LEVEL) == bytes([87])
            assert await connection.read_gatt_char(MANUFACTURER) == b"Babbage & Company"
            await sensor.says("has subscribed")
        await sensor.says("has left")


async def test_who_may_not_use_an_adapter_is_unauthorized(radio: Radio, tmp_path: pathlib.Path) -> None:
    async with running("HeartRateMonitor", "0", tmp_path, *NOBODY) as monitor:
        await monitor.says("This app may not use Bluetooth")
        await monitor.says(f"sudo setcap cap_net_admin+ep {SAMPLES.resolve() / 'HeartRateMonitor'}")
    async with running("HeartRateSensor", "0", tmp_path, *NOBODY) as sensor:
        await sensor.says("Bluetooth is unauthorized")


async def test_without_an_adapter_it_is_unsupported(radio: Radio, tmp_path: pathlib.Path) -> None:
    async with running("HeartRateMonitor", "7", tmp_path) as monitor:
        await monitor.says("There is no Bluetooth here")
        await monitor.says("there is no hci7")


async def test_an_adapter_that_is_switched_off_is_powered_off_until_it_is_on(
    radio: Radio, tmp_path: pathlib.Path
) -> None:
    async with contextlib.AsyncExitStack() as stack:
        with switched_off():
            monitor = await stack.enter_async_context(running("HeartRateMonitor", "0", tmp_path))
            await monitor.says("Bluetooth is off")
        await monitor.says(LOOKING)


async def test_an_adapter_that_is_unplugged_is_awaited(radio: Radio, tmp_path: pathlib.Path) -> None:
    async with running("HeartRateSensor", "1", tmp_path) as sensor, running("HeartRateMonitor", "0", tmp_path) as monitor:
        await monitor.says("beats per minute")
        for app in (sensor, monitor):
            app.forget()
        await radio.stop()
        await monitor.says("Waiting for Bluetooth")
        await sensor.says("Bluetooth is resetting")
        await radio.start()
        await sensor.says("Bluetooth is poweredOn")
        await monitor.says(LOOKING)
        await monitor.says("beats per minute")
