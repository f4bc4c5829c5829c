"""The base class and helpers of the gateway's tests."""
import contextlib
import json
import pathlib
import shutil
import sqlite3
import tempfile
import unittest

from harness import Broker, Gateway, Subscriber


def state(device):
    return f"ble/devices/A4C1380000{device:02X}/state"


def counts(subscriber, device):
    return [json.loads(payload)["count"] for payload in subscriber.payloads(state(device))]


class GatewayTest(unittest.TestCase):
    """A test with a directory of its own; what it starts ends with it."""

    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.directory = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def broker(self, *arguments, **named):
        broker = Broker(self.directory, *arguments, **named)
        self.stack.callback(broker.close)
        return broker

    def subscriber(self, *arguments, **named):
        subscriber = Subscriber(*arguments, **named)
        self.stack.callback(subscriber.close)
        return subscriber

    def gateway(self, url=None, *options, **named):
        gateway = Gateway(self.directory, url, *options, **named)
        self.stack.callback(lambda: gateway.process.poll() is None and gateway.kill())
        return gateway

    def stored(self, path):
        """The values on disk, of a copy: the file itself is the gateway's alone."""
        copy = self.directory / "copy.sqlite"
        for suffix in ("", "-wal"):
            with contextlib.suppress(OSError):
                shutil.copy(f"{path}{suffix}", f"{copy}{suffix}")
        try:
            with contextlib.closing(sqlite3.connect(copy)) as database:
                rows = database.execute("SELECT payload FROM message WHERE topic = ? ORDER BY id", (state(0),)).fetchall()
        except sqlite3.Error:
            return []
        finally:
            for file in self.directory.glob("copy.sqlite*"):
                file.unlink()
        return [json.loads(bytes(row[0]))["count"] for row in rows]
