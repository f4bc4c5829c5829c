"""Clients of ESPHome's API that try to lock others out, with silent connections, hellos, and handshakes with a wrong
key. Attackers are at 127.0.0.2, and honest clients at 127.0.0.1 unless a test says otherwise.
"""
import asyncio
import base64
import contextlib
import os
import pathlib
import re
import socket
import time
import unittest

from aioesphomeapi import APIClient

from case import GatewayTest
from harness import LIMIT, free_port, wait_for

KEY = base64.b64encode(bytes(range(32))).decode()
ATTACKER, OTHER = "127.0.0.2", "127.0.0.3"
# A hello, and a handshake that was made with no key at all.
WRONG = b"\x01\0\0" + b"\x01\0\x31\0" + bytes(range(1, 49))
HELLO, HELLO_ANSWER, PING, PING_ANSWER, GOODBYE = (bytes([0, 0, number]) for number in (1, 2, 7, 8, 5))
HANDSHAKES = int(os.environ.get("HANDSHAKES", "2000"))
ATTEMPTS = int(os.environ.get("ATTEMPTS", "20"))


class Besieged(GatewayTest):
    def proxy(self, key=None):
        port = free_port()
        file = self.directory / "key"
        file.write_text(key or "")
        security = ["--esphome-key-file", file] if key else ["--esphome-api-open"]
        gateway = self.gateway(None, "--esphome-api", f"127.0.0.1:{port}", *security)
        wait_for(lambda: gateway.said("ESPHome's API:"), "it listens")
        return gateway, port

    def connect(self, port, source=ATTACKER):
        """A connection that ends with the test."""
        return self.stack.enter_context(socket.create_connection(("127.0.0.1", port), 20, (source, 0)))

    @staticmethod
    def read(one, length=1 << 16):
        """The octets up to the end of the connection, or the first `length` of them."""
        octets = b""
        with contextlib.suppress(ConnectionError):
            while len(octets) < length and (part := one.recv(length - len(octets))):
                octets += part
        return octets

    @staticmethod
    async def succeed(port, key, attempts):
        """How many of an honest client's attempts succeed."""
        count = 0
        for _ in range(attempts):
            client = APIClient("127.0.0.1", port, None, noise_psk=key, client_info="honest")
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.connect(login=True), LIMIT)
                await client.device_info()
                count += 1
            await client.disconnect(force=True)
        return count

    @staticmethod
    def resident(gateway):
        """The memory of a gateway, in MiB."""
        status = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024

    @staticmethod
    def processor_time(gateway):
        """How long a gateway has run on processors, in seconds."""
        fields = pathlib.Path(f"/proc/{gateway.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_silent_connections_keep_nobody_out(self):
        for key in (None, KEY):
            # Behind the same address the oldest of the silent ones yields.
            for source in (ATTACKER, "127.0.0.1"):
                with self.subTest(key=key, source=source):
                    gateway, port = self.proxy(key)
                    for _ in range(32):
                        self.connect(port, source)
                    count = asyncio.run(self.succeed(port, key, ATTEMPTS))
                    print(f"against 32 silent connections from {source}, {'with' if key else 'without'} a key: "
                          f"{count} of {ATTEMPTS} honest attempts succeeded", flush=True)
                    self.assertEqual(count, ATTEMPTS)
                    self.assertEqual(gateway.finish(), 0)

    def test_who_is_answered_has_a_place(self):
        gateway, port = self.proxy()
        clients, answers = [], []
        for _ in range(12):
            clients.append(self.connect(port))
            clients[-1].sendall(HELLO)
            answers.append(self.read(clients[-1], 3))
        self.assertEqual([answer[2:] for answer in answers], [HELLO_ANSWER[2:]] * 8 + [GOODBYE[2:]] * 4)
        for client in clients[:8]:
            client.sendall(PING)
            self.assertEqual(self.until(client, PING_ANSWER), PING_ANSWER)
        # A client at another address takes the place of the newest, and the others stay.
        other = self.connect(port, OTHER)
        other.sendall(HELLO)
        self.assertEqual(self.read(other, 3)[2:], HELLO_ANSWER[2:])
        self.assertTrue(self.read(clients[7]).endswith(GOODBYE))
        clients[6].sendall(PING)
        self.assertEqual(self.until(clients[6], PING_ANSWER), PING_ANSWER)
        self.assertEqual(gateway.finish(), 0)

    @staticmethod
    def until(one, octets):
        """Reads until these octets have come, and returns them."""
        come = b""
        while not come.endswith(octets):
            part = one.recv(1)
            if not part:
                return come
            come += part
        return octets

    def test_wrong_keys_cost_little(self):
        gateway, port = self.proxy(KEY)
        self.assertEqual(asyncio.run(self.succeed(port, KEY, 1)), 1)
        before, begin, used = self.resident(gateway), time.monotonic(), self.processor_time(gateway)
        refused, during = 0, 0
        for number in range(HANDSHAKES):
            with contextlib.suppress(ConnectionError), socket.create_connection(
                    ("127.0.0.1", port), 20, (ATTACKER, 0)) as one:
                one.sendall(WRONG)
                refused += b"MAC failure" not in self.read(one)
            if number % 100 == 0:
                during = max(during, self.resident(gateway))
        elapsed, used = time.monotonic() - begin, self.processor_time(gateway) - used
        # An honest client at another address is not held up.
        count = asyncio.run(self.succeed(port, KEY, ATTEMPTS))
        after = self.resident(gateway)
        print(f"{HANDSHAKES} handshakes with a wrong key in {elapsed:.1f} s: {before:.0f} MiB before, "
              f"{during:.0f} during, {after:.0f} after; {used / elapsed:.0%} of a core; "
              f"{count} of {ATTEMPTS} honest attempts succeeded", flush=True)
        self.assertEqual(count, ATTEMPTS)
        # All but the first few are refused before they cost anything, and nothing of them stays.
        self.assertGreater(refused, HANDSHAKES - 100)
        self.assertTrue(gateway.said("its address must wait after failed handshakes"))
        self.assertLess(max(during, after) - before, 16)
        self.assertEqual(gateway.finish(), 0)


if __name__ == "__main__":
    unittest.main()
