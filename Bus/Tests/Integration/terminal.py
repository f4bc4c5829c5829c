"""A program on a pseudoterminal."""
import os
import pty
import re
import select
import subprocess
import time

import harness

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\x01\x02]")


class Terminal:
    def __init__(self, world, *command):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            command, stdin=slave, stdout=slave, stderr=slave, env=world.environment, start_new_session=True)
        os.close(slave)
        self.text = ""
        self.seen = 0
        world.stack.callback(self.close)

    def send(self, line):
        os.write(self.master, line.encode() + b"\n")

    def expect(self, pattern, seconds=harness.LIMIT):
        """Waits for text that has not been expected yet. Returns the match."""
        end = time.monotonic() + seconds
        while True:
            match = re.compile(pattern).search(self.text, self.seen)
            if match:
                self.seen = match.end()
                return match
            left = end - time.monotonic()
            if left <= 0 or not self.read(left):
                raise AssertionError(f"{pattern!r} is missing after {seconds} s in:\n{self.text}")

    def read(self, seconds):
        """Reads more output. Returns false if there is none, or no more."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            octets = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += ESCAPES.sub("", octets.decode(errors="replace"))
        return bool(octets)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.master >= 0:
            os.close(self.master)
            self.master = -1
