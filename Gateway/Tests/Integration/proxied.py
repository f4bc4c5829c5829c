"""ESPHome's native API with independent clients: aioesphomeapi, and bleak through bleak-esphome. `ble serve` provides
the device, over a virtual radio.
"""
import asyncio
import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import aioesphomeapi
import habluetooth
from aioesphomeapi import APIClient, BluetoothProxyFeature
from bleak_esphome import connect_scanner
from bleak_retry_connector import establish_connection

from case import GatewayTest
from harness import BLE, GATEWAY, LIMIT, free_port, wait_for

KEY = base64.b64encode(bytes(range(32))).decode()
CYCLES = int(os.environ.get("CYCLES", "30"))
NOTIFICATIONS = int(os.environ.get("NOTIFICATIONS", "5000"))
# The device's address, as a virtual controller has it, as the number that it is in ESPHome's API.
DEVICE = "00:1B:DC:00:00:01"
ADDRESS = int(DEVICE.replace(":", ""), 16)
LEVEL, STREAM, CONFIGURATION = (f"0000{uuid}-0000-1000-8000-00805f9b34fb" for uuid in ("2a19", "2a37", "2902"))
DOCUMENT = {
    "name": "Lamp",
    "services": [
        {"uuid": "180F", "characteristics": [
            {"uuid": "2A19", "properties": ["read", "write", "writeWithoutResponse", "notify"], "value": "61"}]},
        {"uuid": "180D", "characteristics": [{"uuid": "2A37", "properties": ["notify"]}]}],
    "notifications": [{"at": 0, "uuid": "2A19", "value": "60"}],
}


class Manager(habluetooth.BluetoothManager):
    """A program that wants devices only."""

    def _discover_service_info(self, service_info):
        pass


class Proxied(GatewayTest):
    # What is there

    def air(self, document=DOCUMENT):
        """A radio with the device, and a place for the gateway."""
        path = self.directory / "device.json"
        path.write_text(json.dumps(document))
        self.start("radio", "unix-server:a", "unix-server:b")
        wait_for((self.directory / "b").exists, "the radio is there")
        self.start("serve", path, "--transport", "unix:a", log=self.directory / "device.log")

    def start(self, *arguments, log=os.devnull):
        with open(log, "wb") as output:
            child = subprocess.Popen([BLE, *arguments], cwd=self.directory, stdout=output, stderr=subprocess.DEVNULL)
        self.stack.callback(lambda: (child.terminate(), child.wait()))
        return child

    def proxy(self, key=None, configuration="", name="attic"):
        """A gateway that serves ESPHome's API, and its port."""
        port = free_port()
        file = self.directory / f"{name}.key"
        file.write_text(key or "")
        security = ["--esphome-key-file", file] if key else ["--esphome-api-open"]
        gateway = self.gateway(None, "--esphome-api", f"127.0.0.1:{port}", *security, name=name,
                               source=["--transport", f"unix:{self.directory}/b"], configuration=configuration)
        wait_for(lambda: gateway.said("scanning") and gateway.said("ESPHome's API:"), "the gateway scans and listens")
        return gateway, port

    @contextlib.asynccontextmanager
    async def client(self, port, key=None):
        client = APIClient("127.0.0.1", port, None, noise_psk=key, client_info="test")
        await client.connect(login=True)
        try:
            yield client
        finally:
            await client.disconnect()

    @staticmethod
    async def seen(client):
        """Waits for an advertisement of the device, and returns it."""
        found = asyncio.get_running_loop().create_future()

        def take(batch):
            for one in batch.advertisements:
                if one.address == ADDRESS and not found.done():
                    found.set_result((one.address_type, bytes(one.data)))
        unsubscribe = client.subscribe_bluetooth_le_raw_advertisements(take)
        try:
            return await asyncio.wait_for(found, LIMIT)
        finally:
            unsubscribe()

    @staticmethod
    async def connected(client, flags, ended=None):
        """Connects to the device. Returns what forgets the subscription to its end."""
        def changed(connected, mtu, error):
            if not connected and ended is not None and not ended.done():
                ended.set_result(error)
            states.append((connected, mtu, error))
        states = []
        forget = await client.bluetooth_device_connect(ADDRESS, changed, feature_flags=flags, address_type=0)
        assert states == [(True, 517, 0)], states
        return forget

    @staticmethod
    def handles(services):
        """The handles of characteristics by their UUID, and of a characteristic's configuration by the same UUID."""
        values = {one.uuid: one.handle for service in services.services for one in service.characteristics}
        configurations = {one.uuid: descriptor.handle for service in services.services
                          for one in service.characteristics for descriptor in one.descriptors
                          if descriptor.uuid == CONFIGURATION}
        return values, configurations

    # aioesphomeapi

    def test_clients_in_the_clear(self):
        self.air()
        gateway, port = self.proxy()
        self.assertTrue(gateway.said("open at 127.0.0.1"))
        asyncio.run(self.everything(port, None))

    def test_clients_with_the_key(self):
        self.air()
        gateway, port = self.proxy(KEY)
        self.assertTrue(gateway.said("for clients with its key"))
        asyncio.run(self.everything(port, KEY))
        # Without the key nobody gets in, and is told why.
        refusals = [(None, aioesphomeapi.RequiresEncryptionAPIError),
                    (base64.b64encode(bytes(32)).decode(), aioesphomeapi.InvalidEncryptionKeyAPIError)]
        for key, error in refusals:
            with self.subTest(key), self.assertRaises(error):
                asyncio.run(self.only_connect(port, key))
        self.assertTrue(gateway.said(": it has a different key"))
        gateway.process.terminate()
        self.assertEqual(gateway.finish(), 0)

    def test_key_where_none_is_configured(self):
        self.air()
        _, port = self.proxy()
        with self.assertRaises(aioesphomeapi.EncryptionPlaintextAPIError):
            asyncio.run(self.only_connect(port, KEY))

    async def only_connect(self, port, key):
        async with self.client(port, key):
            pass

    async def everything(self, port, key):
        async with self.client(port, key) as client:
            information, (entities, services) = await client.device_info(), await client.list_entities_services()
            self.assertEqual((entities, services), ([], []))
            self.assertEqual((information.name, information.model), ("attic", "ble-gateway"))
            flags = information.bluetooth_proxy_feature_flags_compat(client.api_version)
            self.assertTrue(flags & BluetoothProxyFeature.RAW_ADVERTISEMENTS)
            self.assertFalse(flags & BluetoothProxyFeature.PAIRING)
            kind, data = await self.seen(client)
            self.assertEqual(kind, 0)
            self.assertIn(b"\x05\x09Lamp", data)

            free = []
            client.subscribe_bluetooth_connections_free(lambda *arguments: free.append(arguments))
            ended = asyncio.get_running_loop().create_future()
            forget = await self.connected(client, flags, ended)
            values, configurations = self.handles(await client.bluetooth_gatt_get_services(ADDRESS))
            level = values[LEVEL]
            self.assertEqual(await client.bluetooth_gatt_read(ADDRESS, level), b"\x61")
            await client.bluetooth_gatt_write(ADDRESS, level, b"\x42", True)
            self.assertEqual(await client.bluetooth_gatt_read(ADDRESS, level), b"\x42")
            await client.bluetooth_gatt_write(ADDRESS, level, b"\x43", False)
            self.assertEqual(await client.bluetooth_gatt_read(ADDRESS, level), b"\x43")
            self.assertEqual(await client.bluetooth_gatt_read_descriptor(ADDRESS, configurations[LEVEL]), b"\0\0")

            notified = asyncio.get_running_loop().create_future()
            stop, _ = await client.bluetooth_gatt_start_notify(
                ADDRESS, level, lambda _, value: notified.done() or notified.set_result(bytes(value)))
            await client.bluetooth_gatt_write_descriptor(ADDRESS, configurations[LEVEL], b"\1\0")
            self.assertEqual(await asyncio.wait_for(notified, LIMIT), b"\x60")
            await stop()
            # Nobody wants the values any more, and the device knows.
            self.assertEqual(await client.bluetooth_gatt_read_descriptor(ADDRESS, configurations[LEVEL]), b"\0\0")

            with self.assertRaises(aioesphomeapi.core.BluetoothGATTAPIError) as refusal:
                await client.bluetooth_gatt_read(ADDRESS, 0xFFF0)
            self.assertEqual(refusal.exception.error.error, 1)
            await client.bluetooth_device_set_connection_params(ADDRESS, 24, 24, 0, 300)
            self.assertTrue((await client.bluetooth_device_clear_cache(ADDRESS)).success)
            self.assertFalse((await client.bluetooth_device_pair(ADDRESS)).paired)
            await client.bluetooth_device_disconnect(ADDRESS)
            self.assertEqual(await asyncio.wait_for(ended, LIMIT), 0x16)
            forget()
            with self.assertRaises(aioesphomeapi.core.BluetoothGATTAPIError) as refusal:
                await client.bluetooth_gatt_read(ADDRESS, level)
            self.assertEqual(refusal.exception.error.error, -1)
            await client.device_info()
            self.assertEqual([(now, limit) for now, limit, _ in free], [(3, 3), (2, 3), (3, 3)])
            self.assertEqual(free[1][2], [ADDRESS])

    def test_pairing_by_policy(self):
        self.air()
        gateway, port = self.proxy(KEY, configuration="esphome: {open: true, pair: true}\n")

        async def pair():
            async with self.client(port, KEY) as client:
                flags = (await client.device_info()).bluetooth_proxy_feature_flags_compat(client.api_version)
                self.assertTrue(flags & BluetoothProxyFeature.PAIRING)
                await self.seen(client)
                forget = await self.connected(client, flags)
                # The device does not want to.
                answer = await client.bluetooth_device_pair(ADDRESS)
                self.assertEqual((answer.paired, answer.error), (False, 0x89))
                self.assertFalse((await client.bluetooth_device_unpair(ADDRESS)).success)
                forget()
        asyncio.run(pair())

    # Signals

    def test_a_signal_disconnects_the_device(self):
        self.air()
        log = self.directory / "device.log"

        def ends():
            return log.read_text().count("disconnected: the peer ended the connection")

        async def end(number):
            gateway, port = self.proxy(name=f"signal{number}")
            client = APIClient("127.0.0.1", port, None, client_info="test")
            await client.connect(login=True)
            flags = (await client.device_info()).bluetooth_proxy_feature_flags_compat(client.api_version)
            await self.seen(client)
            await self.connected(client, flags)
            before = ends()
            gateway.process.send_signal(number)
            await asyncio.to_thread(wait_for, lambda: ends() > before, "the device is disconnected", LIMIT)
            # The client answers meanwhile.
            self.assertEqual(await asyncio.to_thread(gateway.process.wait, LIMIT), 0)
            gateway.finish()
            await client.disconnect(force=True)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number):
                asyncio.run(end(number))

    # bleak

    def test_bleak_in_the_clear(self):
        asyncio.run(self.bleak(None))

    def test_bleak_with_the_key(self):
        asyncio.run(self.bleak(KEY))

    async def bleak(self, key):
        self.air()
        _, port = self.proxy(key)
        # The second time with the services that it remembers.
        await self.bleak_connects(port, key, 2)

    async def bleak_connects(self, port, key, count):
        manager = Manager()
        await manager.async_setup()
        habluetooth.set_manager(manager)
        async with self.client(port, key) as client:
            data = connect_scanner(client, await client.device_info(), True)
            stop = data.scanner.async_setup()
            unregister = manager.async_register_scanner(data.scanner)
            try:
                await self.as_a_program_would(manager, count)
            finally:
                unregister()
                stop()
                manager.async_stop()

    async def as_a_program_would(self, manager, count):
        for _ in range(400):
            device = manager.async_ble_device_from_address(DEVICE, True)
            if device:
                break
            await asyncio.sleep(0.05)
        self.assertEqual(device.name, "Lamp")
        gone, values = asyncio.Event(), asyncio.Queue()
        for _ in range(count):
            lamp = await establish_connection(
                habluetooth.HaBleakClientWrapper, device, "Lamp", disconnected_callback=lambda _: gone.set())
            async with contextlib.AsyncExitStack() as stack:
                stack.push_async_callback(lamp.disconnect)
                self.assertEqual(lamp.mtu_size, 517)
                await lamp.write_gatt_char(LEVEL, b"\x11", response=True)
                self.assertEqual(await lamp.read_gatt_char(LEVEL), b"\x11")
                await lamp.write_gatt_char(LEVEL, b"\x12", response=False)
                self.assertEqual(await lamp.read_gatt_char(LEVEL), b"\x12")
                await lamp.start_notify(LEVEL, lambda _, value: values.put_nowait(bytes(value)))
                self.assertEqual(await asyncio.wait_for(values.get(), LIMIT), b"\x60")
                await lamp.stop_notify(LEVEL)
            await asyncio.wait_for(gone.wait(), LIMIT)
            gone.clear()

    # Again and again

    def test_cycles(self):
        self.again_and_again(self.cycle)

    def test_cycles_of_bleak(self):
        self.again_and_again(lambda port, count: self.bleak_connects(port, KEY, count))

    def again_and_again(self, cycle):
        self.air()
        gateway, port = self.proxy(KEY)
        asyncio.run(cycle(port, 5))
        before = self.resources(gateway)
        begin = time.monotonic()
        asyncio.run(cycle(port, CYCLES))
        after = self.resources(gateway)
        print(f"{CYCLES} cycles in {time.monotonic() - begin:.1f} s: descriptors {before[0]} to {after[0]}, "
              f"threads {before[1]} to {after[1]}, resident memory {before[2]} to {after[2]} KiB", flush=True)
        self.assertEqual(after[0], before[0])
        self.assertLess(after[2] - before[2], 4096 + CYCLES)

    async def cycle(self, port, count):
        for number in range(count):
            # A new client each tenth time.
            if number % 10 == 0:
                stack = contextlib.AsyncExitStack()
                client = await stack.enter_async_context(self.client(port, KEY))
                flags = (await client.device_info()).bluetooth_proxy_feature_flags_compat(client.api_version)
                await self.seen(client)
            forget = await self.connected(client, flags)
            values, configurations = self.handles(await client.bluetooth_gatt_get_services(ADDRESS))
            await client.bluetooth_gatt_write(ADDRESS, values[LEVEL], bytes([number % 256]), True)
            self.assertEqual(await client.bluetooth_gatt_read(ADDRESS, values[LEVEL]), bytes([number % 256]))
            notified = asyncio.get_running_loop().create_future()
            await client.bluetooth_gatt_start_notify(
                ADDRESS, values[LEVEL], lambda _, value: notified.done() or notified.set_result(bytes(value)))
            await client.bluetooth_gatt_write_descriptor(ADDRESS, configurations[LEVEL], b"\1\0")
            await asyncio.wait_for(notified, LIMIT)
            if number % 10 == 9 or number == count - 1:
                # Every other client leaves its connection to the gateway.
                if number % 20 == 9:
                    await client.bluetooth_device_disconnect(ADDRESS)
                forget()
                await stack.aclose()
            else:
                await client.bluetooth_device_disconnect(ADDRESS)
                forget()

    @staticmethod
    def resources(gateway):
        """File descriptors, threads and resident memory in KiB, when there is no client any more."""
        process = pathlib.Path(f"/proc/{gateway.process.pid}")

        def sockets():
            return sum("socket" in os.readlink(one) for one in (process / "fd").iterdir())
        # The listener, the radio, and what the event loops hold.
        least = sockets()
        with contextlib.suppress(AssertionError):
            wait_for(lambda: sockets() < least, "a socket is closed", 1)
        status = (process / "status").read_text()
        fields = {name: int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("Threads", "VmRSS")}
        return len(list((process / "fd").iterdir())), fields["Threads"], fields["VmRSS"]

    # Many values, all of which must arrive. The rates depend on what else the machine does, and are only printed.

    def test_many_values(self):
        document = {**DOCUMENT, "notifications": [{"at": 0, "uuid": "2A37", "value": f"{number:08X}" * 5}
                                                  for number in range(NOTIFICATIONS)]}
        self.air(document)
        own = self.own_rate()
        _, port = self.proxy(KEY)
        proxied = asyncio.run(self.rate(port))
        print(f"{NOTIFICATIONS} notifications of 20 octets: {own:.0f}/s by the library, {proxied:.0f}/s by the proxy",
              flush=True)

    def own_rate(self):
        child = subprocess.Popen([BLE, "notify", DEVICE, "2A37", "--transport", "unix:b", "--count", str(NOTIFICATIONS)],
                                 cwd=self.directory, stdout=subprocess.PIPE, text=True)
        lines = iter(child.stdout.readline, "")
        next(lines)
        begin = time.monotonic()
        for _ in range(NOTIFICATIONS - 1):
            next(lines)
        elapsed = time.monotonic() - begin
        child.stdout.close()
        self.assertEqual(child.wait(LIMIT), 0)
        return (NOTIFICATIONS - 1) / elapsed

    async def rate(self, port):
        async with self.client(port, KEY) as client:
            flags = (await client.device_info()).bluetooth_proxy_feature_flags_compat(client.api_version)
            await self.seen(client)
            forget = await self.connected(client, flags)
            values, configurations = self.handles(await client.bluetooth_gatt_get_services(ADDRESS))
            times, numbers = [], []
            done = asyncio.Event()

            def take(_, value):
                times.append(time.monotonic())
                numbers.append(int(value[:4].hex(), 16))
                if len(numbers) == NOTIFICATIONS:
                    done.set()
            await client.bluetooth_gatt_start_notify(ADDRESS, values[STREAM], take)
            await client.bluetooth_gatt_write_descriptor(ADDRESS, configurations[STREAM], b"\1\0")
            await asyncio.wait_for(done.wait(), 300)
            self.assertEqual(numbers, list(range(NOTIFICATIONS)))
            await client.bluetooth_device_disconnect(ADDRESS)
            forget()
            return (NOTIFICATIONS - 1) / (times[-1] - times[0])

    # What is not the protocol

    def test_garbage(self):
        self.air()
        gateway, port = self.proxy(KEY)
        for octets in (b"GET / HTTP/1.1\r\n\r\n", b"\x01\xff\xff", b"\x01\0\0\x01\0\x01\0", b"\0" * 64, os.urandom(500)):
            with self.subTest(octets[:16]), socket.create_connection(("127.0.0.1", port), LIMIT) as one:
                one.sendall(octets)
                one.settimeout(15)
                answer = b""
                with contextlib.suppress(ConnectionResetError):
                    while part := one.recv(4096):
                        answer += part
                self.assertLess(len(answer), 200)
        self.assertIsNone(gateway.process.poll())
        asyncio.run(self.only_connect(port, KEY))

    def test_too_many_clients(self):
        self.air()
        _, port = self.proxy()

        async def fill():
            async with contextlib.AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(self.client(port)) for _ in range(8)]
                with self.assertRaises(aioesphomeapi.APIConnectionError):
                    async with self.client(port) as one:
                        await one.device_info()
                for client in clients:
                    await client.device_info()
        asyncio.run(fill())

    def test_port_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            answer = subprocess.run(
                [GATEWAY, "--esphome-api", f"127.0.0.1:{other.getsockname()[1]}", "--esphome-api-open", "--replay", "-"],
                capture_output=True, text=True, stdin=subprocess.PIPE, timeout=LIMIT)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("choose another port or address", answer.stderr)

    def test_wrong_options(self):
        (self.directory / "bad").write_text("no key")
        for options, said in (
                (["--esphome-api", ":6053"], "needs either a key"),
                (["--esphome-api", "6053", "--esphome-api-open"], "must be :PORT or ADDRESS:PORT"),
                (["--esphome-api-open"], "require --esphome-api"),
                (["--esphome-api", ":6053", "--esphome-key-file", self.directory / "bad"], "32 octets in Base64")):
            with self.subTest(options):
                answer = subprocess.run([GATEWAY, *options], capture_output=True, text=True)
                self.assertEqual(answer.returncode, 64)
                self.assertIn(said, answer.stderr)
