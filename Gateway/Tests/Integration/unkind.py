"""Misbehaving users, brokers, clients and machines. The gateway reports the reason of each problem, and either
continues or exits cleanly."""
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess
import threading
import unittest

from case import GatewayTest, counts
from harness import GATEWAY, LIMIT, free_port, wait_for


def memory(gateway, field="VmHWM"):
    """Of a gateway's process, in KiB; the most that there was."""
    status = pathlib.Path(f"/proc/{gateway.process.pid}/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+)", status)[1])


class Unkind(GatewayTest):
    # Files

    def test_configurations_that_are_none(self):
        file = self.directory / "bad.yaml"
        fifo = self.directory / "fifo"
        os.mkfifo(fifo)
        threading.Thread(target=lambda: fifo.write_text("gatway: x\n"), daemon=True).start()
        for path, octets, said in (
                (file, b"a: " + b"[" * 100_000, "nesting"), (file, b"\xff\xfe\0", "is not text"),
                (file, b"#" * (1 << 20) + b"#", "longer than 1 MiB"),
                (file, b'"a\\e[31m": 1', r'line 1, "a\u001b[31m": unknown member'),
                (file, b'gateway: "a\\u202eb"', "line 1, gateway: expected a name without"),
                (file, b'broker: {url: mqtt://h, client_id: "a\\0b"}',
                 "line 1, broker.client_id: expected a string without null characters"),
                (file, b"broker: {url: mqtt://h, user: me, password_file: /dev/zero}",
                 "line 1, broker.password_file: the file cannot be read"),
                (self.directory, b"", "cannot be read"), (pathlib.Path("/dev/zero"), b"", "cannot be read"),
                (fifo, b"", "gatway: unknown member")):
            with self.subTest(said):
                if path == file:
                    file.write_bytes(octets)
                answer = subprocess.run([GATEWAY, "--config", path], capture_output=True, text=True, timeout=60)
                self.assertIn(said, answer.stderr)
                self.assertNotIn("\x1b", answer.stderr)
                self.assertEqual(answer.returncode, 64)

    # Brokers

    def silent_broker(self, accepts):
        """A port behind which nobody answers: the connection is taken, or not even that."""
        listener = self.stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=100 if accepts else 0))
        port = listener.getsockname()[1]
        if not accepts:
            # They wait to be accepted, so the next attempt gets no answer.
            for _ in range(4):
                one = self.stack.enter_context(socket.socket())
                one.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    one.connect(("127.0.0.1", port))
        return port

    def test_a_signal_ends_it_whatever_the_broker_does(self):
        taken = self.broker().port
        for scheme, port in (("mqtt", self.silent_broker(True)), ("mqtts", self.silent_broker(True)),
                             ("mqtt", self.silent_broker(False)), ("mqtt", free_port()), ("mqtts", taken)):
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                with self.subTest((scheme, port, number)):
                    gateway = self.gateway(f"{scheme}://127.0.0.1:{port}", name=f"{scheme}{port}{number}")
                    gateway.hear(0, 1)
                    # The message is on disk, so it has started.
                    wait_for(lambda: self.stored(gateway.spool), "the message is stored")
                    gateway.process.send_signal(number)
                    self.assertEqual(gateway.process.wait(LIMIT), 0)
                    gateway.finish()

    def test_a_signal_while_it_starts(self):
        port = free_port()
        for attempt in range(12):
            with self.subTest(attempt):
                gateway = self.gateway(f"mqtts://127.0.0.1:{port}", name=f"start{attempt}")
                # The thread that connects is the first part that starts; the others follow while the signal arrives.
                wait_for(lambda: gateway.said("retrying"), "it has tried to connect")
                gateway.process.terminate()
                # Either the signal's default action ends it, or its handler.
                self.assertIn(gateway.process.wait(LIMIT), (0, -signal.SIGTERM))
                gateway.finish()

    def test_a_message_that_is_too_long(self):
        broker = self.broker()
        gateway = self.gateway(configuration=(
            f'broker: {{url: "mqtt://127.0.0.1:{broker.port}", protocol: "5"}}\n'
            'remote: {allow: ["A4:C1:38:11:22:33"]}\n'))
        subscriber = self.subscriber(broker.port, "ble/gateways/attic/answer")
        wait_for(lambda: gateway.said("connected to"), "the gateway listens")
        topic = ["mosquitto_pub", "-p", str(broker.port), "-t", "ble/gateways/attic/request"]
        before = memory(gateway)
        subprocess.run([*topic, "-s"], input=b"x" * 64_000_000, check=True)
        subprocess.run([*topic, "-m", '{"id":"1"}'], check=True)
        wait_for(lambda: subscriber.messages, "the next one is answered")
        self.assertLess(memory(gateway) - before, 16_000)
        self.assertEqual(gateway.finish(), 0)

    def test_many_requests_with_one_id(self):
        broker = self.broker()
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}", configuration='remote: {allow: ["A4:C1:38:11:22:33"]}\n')
        subscriber = self.subscriber(broker.port, "ble/gateways/attic/answer")
        wait_for(lambda: gateway.said("connected to"), "the gateway listens")
        request = json.dumps({"id": "1", "owner": "me", "device": "A4:C1:38:11:22:33", "do": "discover"})
        number = 3000
        subprocess.run(["mosquitto_pub", "-p", str(broker.port), "-t", "ble/gateways/attic/request", "-q", "1", "-l"],
                       input=f"{request}\n" * number, text=True, check=True)

        def answers():
            return [json.loads(payload) for payload in subscriber.payloads("ble/gateways/attic/answer")]
        # An answer that cannot be sent at once is dropped, so not all of them have one.
        wait_for(lambda: len(answers()) >= 16, "there are answers")
        self.assertLessEqual({(one["id"], one["ok"], one["error"]) for one in answers()},
                             {("1", False, "notConnected"), ("1", False, "busy"), ("1", False, "timedOut")})
        gateway.process.terminate()
        self.assertEqual(gateway.process.wait(LIMIT), 0)
        gateway.finish()

    def test_answers_to_topics_that_are_none(self):
        broker = self.broker()
        gateway = self.gateway(configuration=(
            f'broker: {{url: "mqtt://127.0.0.1:{broker.port}", protocol: "5"}}\n'
            'remote: {allow: ["A4:C1:38:11:22:33"]}\n'))
        subscriber = self.subscriber(broker.port, "mine", "ble/gateways/attic/#")
        wait_for(lambda: gateway.said("connected to"), "the gateway listens")
        request = ["mosquitto_pub", "-V", "5", "-p", str(broker.port), "-t", "ble/gateways/attic/request", "-m", "{}",
                   "-D", "publish", "response-topic"]
        for topic in ("ble/gateways/attic/request", "$SYS/x", "a" * 60_000, "a/+", "#", "mine"):
            subprocess.run([*request, topic], check=True)
        wait_for(lambda: subscriber.payloads("mine"), "the last one is answered")
        # The others are answered where answers go by default: at the topic of requests they would be the next requests.
        self.assertEqual(len(subscriber.payloads("ble/gateways/attic/answer")), 5)
        self.assertEqual(subscriber.payloads("ble/gateways/attic/request"), ["{}"] * 6)
        self.assertFalse(gateway.said("lost"))
        self.assertEqual(gateway.finish(), 0)

    # Machines

    def test_a_log_that_cannot_be_written(self):
        packet = {"address": "A4:C1:38:00:00:01", "type": "public", "data": "0716d2fc4002ca09", "time": 1000}
        file = self.directory / "site.jsonl"
        # The first line causes a warning.
        file.write_text("no packet\n" + json.dumps(packet) + "\n")
        with open("/dev/full", "wb") as full:
            answer = subprocess.run([GATEWAY, "--dry-run", "--replay", file], stdout=subprocess.PIPE, stderr=full,
                                    text=True, timeout=LIMIT)
        self.assertIn('{"temperature":25.06}', answer.stdout)
        self.assertEqual(answer.returncode, 0)

    def test_a_disk_that_takes_nothing(self):
        broker = self.broker()
        subscriber = self.subscriber(broker.port, "ble/devices/#")
        broker.process.send_signal(signal.SIGSTOP)
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}", ignored=[signal.SIGXFSZ])
        gateway.hear(0, 0)
        wait_for(lambda: self.stored(gateway.spool), "the first is on disk")
        # From here on no file of its may grow.
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
        for number in range(1, 100):
            gateway.hear(0, number)
        wait_for(lambda: gateway.said("messages wait in memory only, because they cannot be written"), "it is said")
        broker.process.send_signal(signal.SIGCONT)
        wait_for(lambda: counts(subscriber, 0)[-1:] == [99], "what waits in memory comes")
        # What was on disk already comes, too, and before the rest.
        self.assertEqual(list(dict.fromkeys(counts(subscriber, 0))), list(range(100)))
        resource.prlimit(gateway.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        gateway.hear(0, 100)
        wait_for(lambda: gateway.said("messages are written to disk again"), "the disk is used again", 60)
        wait_for(lambda: counts(subscriber, 0)[-1:] == [100], "the last arrives")
        self.assertEqual(gateway.finish(), 0)

    def test_places_where_nothing_can_be_stored(self):
        url = f"mqtt://127.0.0.1:{free_port()}"
        for place in ("/proc/gateway.sqlite", "/nowhere/gateway.sqlite", str(self.directory)):
            with self.subTest(place):
                file = self.directory / "spool.yaml"
                file.write_text(f"spool: {{path: {place}}}\n")
                answer = subprocess.run([GATEWAY, "--config", file, "--broker", url, "--replay", "-"],
                                        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT)
                self.assertIn(f"cannot use the file for stored messages, {place}: ", answer.stderr)
                self.assertEqual(answer.returncode, 1)

    def test_status_with_the_preset_theengs(self):
        broker = self.broker()
        gateway = self.gateway(f"mqtt://127.0.0.1:{broker.port}", "--preset", "theengs")
        subscriber = self.subscriber(broker.port, "home/#")
        wait_for(lambda: subscriber.payloads("home/gateways/attic/health"), "the health was told")
        answer = subprocess.run([GATEWAY, "status", "--preset", "theengs", "--broker", f"mqtt://127.0.0.1:{broker.port}"],
                                capture_output=True, text=True)
        self.assertIn("attic: online", answer.stdout)
        self.assertEqual(answer.returncode, 0)
        gateway.finish()

    @unittest.skipIf(any(pathlib.Path("/sys/class/bluetooth").glob("hci*")), "this machine has an adapter")
    def test_a_machine_without_an_adapter(self):
        port = free_port()
        gateway = self.gateway(None, "--esphome-api", f"[::1]:{port}", "--esphome-api-open", source=[])
        wait_for(lambda: gateway.said("no Bluetooth LE adapter") and gateway.said(f"open at [::1]:{port}: "), "it says so")
        gateway.process.terminate()
        self.assertEqual(gateway.finish(), 0)

    # Clients of ESPHome's API

    def proxy(self):
        port = free_port()
        gateway = self.gateway(None, "--esphome-api", f"127.0.0.1:{port}", "--esphome-api-open")
        wait_for(lambda: gateway.said("ESPHome's API: open"), "it listens")
        return gateway, port

    @staticmethod
    def frame(kind, payload=b""):
        return bytes([0, len(payload), kind]) + payload

    def test_clients_that_are_none(self):
        gateway, port = self.proxy()
        hello = self.frame(1)
        for octets in (
                b"\0" + b"\xff" * 10, b"\0\xff\xff\xff\x7f", b"\0\0\xff\xff\xff\xff", b"\0\xff\x7f\x01", b"\2", self.frame(68),
                self.frame(1, b"\x0a\xff"), hello + self.frame(68, b"\x08" + b"\xff" * 11),
                hello + self.frame(70, b"\x12" * 19), hello + self.frame(1, b"\x0a\xff\xff\xff\xff\x0f")):
            with self.subTest(octets), socket.create_connection(("127.0.0.1", port), 20) as one:
                one.sendall(octets)
                # It is asked to leave, and its connection ends.
                answer = b""
                with contextlib.suppress(ConnectionResetError):
                    while part := one.recv(4096):
                        answer += part
                self.assertTrue(answer.endswith(self.frame(5)) or not answer, answer)
        self.assertTrue(gateway.said("disconnecting the client"))
        self.assertIsNone(gateway.process.poll())
        self.assertEqual(gateway.finish(), 0)

    def test_a_client_that_does_not_read(self):
        gateway, port = self.proxy()
        before = memory(gateway)
        with socket.create_connection(("127.0.0.1", port), 20) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            # It asks who the gateway is, again and again, and does not listen.
            one.sendall(self.frame(1))
            with self.assertRaises(OSError):
                for _ in range(1000):
                    one.sendall(self.frame(9) * 10_000)
        wait_for(lambda: gateway.said("it does not read its messages"), "its connection ends")
        self.assertLess(memory(gateway) - before, 32_000)
        self.assertEqual(gateway.finish(), 0)

    def test_a_signal_ends_it_whatever_clients_do(self):
        for octets in (b"", b"\0\x10", self.frame(1), self.frame(1) + self.frame(9) * 1000):
            with self.subTest(octets[:8]), contextlib.ExitStack() as stack:
                gateway, port = self.proxy()
                one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 20))
                one.sendall(octets)
                gateway.process.terminate()
                self.assertEqual(gateway.process.wait(LIMIT), 0)
                gateway.finish()
