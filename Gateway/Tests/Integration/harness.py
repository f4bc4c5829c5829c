"""A broker, a subscriber and a gateway as processes, and a wire that can be cut."""
import contextlib
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import threading
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2]
GATEWAY = os.environ.get("BLE_GATEWAY", str(PACKAGE / ".build/debug/ble-gateway"))
# The library's program, for a radio and a device on it.
BLE = str(pathlib.Path(os.environ.get("BLUETOOTH_BINARIES", PACKAGE.parent / ".build/debug")).absolute() / "ble")
KILLS = int(os.environ.get("KILLS", "5"))
MOSQUITTO = "/usr/sbin/mosquitto"


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


# How long a step may take that takes a moment on a machine with nothing else to do.
LIMIT = 60


def wait_for(condition, what, seconds=LIMIT):
    """A test waits for something that happens, and never for a time to pass."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(0.02)


class Broker:
    """A mosquitto that can be stopped and comes back on the same port."""

    def __init__(self, directory, lines=("allow_anonymous true",), port=None):
        self.port = port or free_port()
        self.configuration = directory / f"mosquitto-{self.port}.conf"
        # What a subscriber has not received yet survives the broker's end.
        self.configuration.write_text("\n".join([
            f"listener {self.port} 127.0.0.1", "persistence true", f"persistence_location {directory}/",
            "user root", "max_queued_messages 0", "max_inflight_messages 1000", *lines, ""]))
        self.log = open(directory / f"mosquitto-{self.port}.log", "ab")
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen([MOSQUITTO, "-c", self.configuration], stdout=self.log, stderr=self.log)

        def answers():
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return True
            return False
        wait_for(answers, "the broker listens")

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait()

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.log.close()


class Subscriber:
    """A mosquitto_sub whose subscription outlives connections; it keeps what it has received."""

    def __init__(self, port, *topics, options=()):
        self.probe = f"probe/{random.getrandbits(32)}"
        self.is_subscribed = False
        command = ["mosquitto_sub", "-p", str(port), "-q", "1", "-i", f"sub-{random.getrandbits(32)}", "-c",
                   "-F", "%r %t %p", *options]
        for topic in (*topics, self.probe):
            command += ["-t", topic]
        self.messages = []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

        # What is published before the broker knows of the subscription does not come.
        def is_subscribed():
            subprocess.run(["mosquitto_pub", "-p", str(port), "-t", self.probe, "-m", "probe", *options], check=True)
            return self.is_subscribed
        wait_for(is_subscribed, "the broker knows of the subscription")

    def read(self):
        for line in self.process.stdout:
            retained, topic, payload = line.rstrip("\n").split(" ", 2)
            if topic.startswith("probe/"):
                self.is_subscribed = True
            else:
                self.messages.append((topic, payload, retained == "1"))

    def payloads(self, topic):
        return [payload for name, payload, _ in list(self.messages) if name == topic]

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.thread.join()
        self.process.stdout.close()


def set_signals(ignored):
    """Ignores these signals in the process that is about to begin. The others work, also where these tests run under nohup."""
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)


class Gateway:
    """A ble-gateway that is fed with packets on its standard input."""

    def __init__(self, directory, url=None, *options, name="attic", configuration="", source=("--replay", "-"), environment=None,
                 ignored=()):
        file = directory / f"{name}.yaml"
        # No caps: each value is to be seen.
        file.write_text(f"spool: {{path: {directory}/{name}.sqlite}}\n"
                        "publish: {device_rate: 1000, device_burst: 10000, total_rate: 100000, total_burst: 100000}\n"
                        + configuration)
        self.errors = directory / f"{name}.log"
        self.log = open(self.errors, "wb")
        self.spool = directory / f"{name}.sqlite"
        self.process = subprocess.Popen(
            [GATEWAY, "--config", str(file), "--gateway", name, *source, *options,
             *(["--broker", url] if url else [])],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, env=environment,
            preexec_fn=lambda: set_signals(ignored))

    def hear(self, device, count):
        """A sensor says a number (BTHome's count of 32 bits)."""
        data = bytes([0x40, 0x3E]) + count.to_bytes(4, "little")
        payload = bytes([len(data) + 3, 0x16, 0xD2, 0xFC]) + data
        line = {"address": f"A4:C1:38:00:00:{device:02X}", "type": "public", "rssi": -60, "data": payload.hex()}
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def said(self, text):
        return text in self.errors.read_text()

    def finish(self):
        self.process.stdin.close()
        status = self.process.wait(LIMIT)
        self.log.close()
        return status

    def kill(self):
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.log.close()


class Wire(threading.Thread):
    """Carries octets between the gateway and the broker, until it is cut."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.target = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = []
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                near.close()
                continue
            self.ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    @staticmethod
    def carry(source, sink):
        with contextlib.suppress(OSError):
            while octets := source.recv(65536):
                sink.sendall(octets)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()

    def cut(self):
        ends, self.ends = self.ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()

    def close(self):
        self.cut()
        self.listener.close()
