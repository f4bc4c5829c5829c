"""BlueZ: the system bus, and the daemon on it."""

from __future__ import annotations

import asyncio
import pathlib
import re
import subprocess
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.unpack import unpack_variants
from support.processes import TIMEOUT, Process, output_of, until

DAEMON = next(
    path for path in (pathlib.Path("/usr/libexec/bluetooth/bluetoothd"), pathlib.Path("/usr/lib/bluetooth/bluetoothd"))
    if path.exists())


# Up to 5.66, bluetoothd opens two enhanced ATT bearers by default. Later versions open none. Debian's own file sets
# nothing but `AutoEnable`.
CONFIGURATION = "[GATT]\nChannels = 3\n[Policy]\nAutoEnable = true\n"

# The kernel gives higher handles to links that it has not made yet (Core 5.4, Vol 4, Part E, 7.7.65.1).
LAST_HANDLE = 0x0EFF


def bluez_version() -> tuple[int, ...]:
    """The version of bluetoothd, such as (5, 66)."""
    output = subprocess.run([DAEMON, "--version"], capture_output=True, check=True, text=True).stdout
    return tuple(int(part) for part in output.strip().split("."))


class BlueZ:
    """`bluetoothd`, and a connection to the bus to drive it by."""

    def __init__(self) -> None:
        self.daemon: Process | None = None
        self._bus: MessageBus | None = None

    @property
    def bus(self) -> MessageBus:
        assert self._bus is not None
        return self._bus

    async def start(self) -> None:
        if not pathlib.Path("/run/dbus/system_bus_socket").exists():
            pathlib.Path("/run/dbus").mkdir(exist_ok=True)
            await output_of("dbus-uuidgen", "--ensure")
            status, _, errors = await output_of("dbus-daemon", "--system", "--fork")
            if status != 0:
                raise RuntimeError(f"no system bus: {errors}")
        # The kernel drops packets when the daemon's socket is full: by default after some 270 notifications. On a radio
        # those take longer than the daemon may be busy elsewhere, but not in this machine.
        for limit in ("rmem_default", "wmem_default"):
            pathlib.Path("/proc/sys/net/core", limit).write_text(str(8 << 20))
        configuration = pathlib.Path("/run/bluetoothd.conf")
        configuration.write_text(CONFIGURATION)
        self.daemon = await Process.start("bluetoothd", DAEMON, "-n", "-f", configuration)
        self._bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
        await self._until_ready()

    async def _until_ready(self) -> None:
        end = asyncio.get_running_loop().time() + TIMEOUT
        while not await self.call("/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner", "s", "org.bluez",
                                  destination="org.freedesktop.DBus"):
            if asyncio.get_running_loop().time() > end:
                raise TimeoutError("bluetoothd did not come up")
            await asyncio.sleep(0.02)

    async def stop(self) -> None:
        if self._bus is not None:
            self._bus.disconnect()
        if self.daemon is not None:
            await self.daemon.stop()

    async def call(
        self, path: str, method: str, signature: str = "", *arguments: Any, destination: str = "org.bluez"
    ) -> Any:
        """Calls a method, such as `org.bluez.Adapter1.StartDiscovery`, and returns its result."""
        interface, member = method.rsplit(".", 1)
        reply = await self.bus.call(Message(
            destination=destination, path=path, interface=interface, member=member, signature=signature,
            body=list(arguments)))
        if reply is None or reply.message_type == MessageType.ERROR:
            raise RuntimeError(f"{method}: {reply and reply.error_name}: {reply and reply.body}")
        values = unpack_variants(reply.body)
        return values[0] if values else None

    async def objects(self) -> dict[str, dict[str, dict[str, Any]]]:
        """All objects of the daemon: the properties of each interface of each object, by path.

        BlueZ 5.66 occasionally crashes when the key of a bond is refused. It is then restarted.
        """
        try:
            return await self.call("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")
        except RuntimeError:
            assert self.daemon is not None
            await until(lambda: self.daemon is None or not self.daemon.is_running, "the end of a daemon without answers")
            self.bus.disconnect()
            await self.start()
            return await self.call("/", "org.freedesktop.DBus.ObjectManager.GetManagedObjects")

    async def adapter(self, name: str) -> str:
        """The path of an adapter, once the daemon has it and has powered it."""
        path = f"/org/bluez/{name}"
        end = asyncio.get_running_loop().time() + TIMEOUT
        while True:
            properties = (await self.objects()).get(path, {}).get("org.bluez.Adapter1", {})
            if properties.get("Powered"):
                return path
            if asyncio.get_running_loop().time() > end:
                _, kernel, _ = await output_of("hciconfig", name)
                raise TimeoutError(f"bluetoothd has no adapter {name} that is powered but {properties}; {kernel}")
            await asyncio.sleep(0.05)

    async def power(self, name: str, is_on: bool) -> None:
        """Switches an adapter on or off."""
        await self.call(
            f"/org/bluez/{name}", "org.freedesktop.DBus.Properties.Set", "ssv", "org.bluez.Adapter1", "Powered",
            Variant("b", is_on))

    async def renewed(self, name: str) -> None:
        """Waits until an adapter is powered, and removes its devices and links."""
        await self.adapter(name)
        await self.forget_devices(name)
        # btvirt does not report that a controller was reset, and refuses to end its links. The kernel keeps them, and
        # makes no others with that address.
        _, links, _ = await output_of("hcitool", "-i", name, "con")
        if any(int(handle) <= LAST_HANDLE for handle in re.findall(r"handle (\d+)", links)):
            await self.power(name, False)
            await self.power(name, True)

    async def forget_devices(self, name: str) -> None:
        """Removes all devices of an adapter, and the daemon's data about them."""
        for path, interfaces in (await self.objects()).items():
            if "org.bluez.Device1" in interfaces and path.startswith(f"/org/bluez/{name}/"):
                await self.call(f"/org/bluez/{name}", "org.bluez.Adapter1.RemoveDevice", "o", path)
