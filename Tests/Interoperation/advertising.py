"""`ble scan`, `ble advertise` and `ble beacon` with Bumble's host on the other side, octet for octet."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import airs

HERE = pathlib.Path(__file__).resolve().parent
BUMBLE = "F0:0D:00:00:00:01"
# What a terminal obeys: a colour, a bell, a mark that turns the direction of writing, and octets that are not UTF-8.
HOSTILE_NAME = b"a\x1b[31m\x07\xe2\x80\xae\xff\xc0b"


def structures(*elements: tuple[int, bytes]) -> bytes:
    """AD structures, each with its length."""
    return b"".join(bytes([len(data) + 1, kind]) + data for kind, data in elements)


@dataclass
class Seen:
    """What Bumble advertises, and the members of the objects that `ble scan --json` prints of it."""

    name: str
    data: bytes
    members: dict[str, Any]
    response: bytes = b""
    connectable: bool = False
    options: list[str] = field(default_factory=list)
    # Of Bumble, for extended advertising.
    theirs: list[str] = field(default_factory=list)


FLAGS = (0x01, b"\x06")
SEEN = [
    Seen("a heart rate belt with a scan response",
         structures(FLAGS, (0x03, bytes.fromhex("0D180F18"))), response=structures((0x09, b"Belt")), connectable=True,
         members={"name": "Belt", "connectable": True, "rssi": int, "flags": 6,
                  "services": [{"uuid": "180D", "name": "Heart Rate"}, {"uuid": "180F", "name": "Battery"}]}),
    Seen("a BTHome sensor", structures(FLAGS, (0x16, bytes.fromhex("D2FC4002CA0903BF13"))), options=["--service", "FCD2"],
         members={"values": [
             {"format": "bthome", "name": "temperature", "value": 25.06, "unit": "°C"},
             {"format": "bthome", "name": "humidity", "value": 50.55, "unit": "%"}]}),
    Seen("a RuuviTag", structures(FLAGS, (0xFF, bytes.fromhex("99040512FC5394C37C0004FFFC040CAC364200CDCBB8334C884F"))),
         members={"vendor": "Ruuvi Innovations Ltd."}),
    Seen("a name with control characters", structures(FLAGS, (0x09, HOSTILE_NAME)),
         members={"name": HOSTILE_NAME.decode("utf-8", errors="replace")}),
]

# As much as Bumble hands over in one command. It takes two reports, of which the first has 229 octets.
LONG = structures(FLAGS, (0xFF, bytes.fromhex("FFFF") + bytes(range(240))))
EXTENDED_SEEN = [
    Seen("an extended set with long data on LE 2M", LONG, theirs=["--sid", "7", "--phy", "2"],
         members={"sid": 7, "primaryPHY": "1M", "secondaryPHY": "2M", "connectable": None, "truncated": None,
                  "manufacturerData": [{"company": 0xFFFF, "data": bytes(range(240)).hex().upper()}]}),
    Seen("a connectable extended set", structures(FLAGS, (0x09, b"Set")), connectable=True, theirs=["--sid", "3"],
         members={"name": "Set", "sid": 3, "secondaryPHY": "1M", "connectable": True}),
    Seen("an anonymous set", structures((0xFF, bytes.fromhex("FFFF0102"))), theirs=["--sid", "2", "--anonymous"],
         members={"address": None, "anonymous": True, "sid": 2}),
]
# The options, the octets, and what Bumble says beside them: whether one may connect, the SID, the secondary PHY, and
# whether it is anonymous.
EXTENDED_SENT = [
    # RootCanal takes 512.
    (f"advertise --data {bytes(500).hex().upper()} --no-connectable --sid 9 --phy 2m", bytes(500).hex().upper(),
     "False 9 2 False"),
    ("advertise --name Set --extended", "020106" "0409536574", "True 1 1 False"),
    ("advertise --data FF --anonymous --sid 4", "FF", "False 4 1 True"),
]

# The options, the octets, and whether one may connect.
SENT: list[tuple[str, str, bool]] = [
    ("advertise --name Belt --service 180D", "020106" "03030D18" "050942656C74", True),
    ("advertise --data 0303AAFE --no-connectable", "0303AAFE", False),
    ("advertise --manufacturer FFFF=0102 --no-connectable", "020106" "05FFFFFF0102", False),
    ("beacon ibeacon FB0B57A2-8228-44CD-913A-94A122BA1206 1 2 --power -47",
     "020106" "1AFF4C000215FB0B57A2822844CD913A94A122BA120600010002D1", False),
    ("beacon eddystone-uid 00010203040506070809 AABBCCDDEEFF",
     "020106" "0303AAFE" "1716AAFE00EE00010203040506070809AABBCCDDEEFF0000", False),
    ("beacon eddystone-url https://goo.gl/Aq18zF --power -20",
     "020106" "0303AAFE" "1316AAFE10EC03676F6F2E676C2F41713138" "7A46", False),
    ("beacon eddystone-tlm --battery 3000 --temperature 1.5 --count 42 --uptime 10.1",
     "020106" "0303AAFE" "1116AAFE20000BB801800000002A00000065", False),
    ("beacon bthome temperature=25.06 humidity=50.55", "020106" "0A16D2FC4002CA0903BF13", False),
]


@contextlib.contextmanager
def running(command: list[str], log: pathlib.Path, words: str) -> Iterator[None]:
    """A program, once its log contains some words."""
    with airs.ready_process(command, lambda: words in log.read_text(errors="replace"), log):
        yield


@dataclass
class Case:
    """One side advertises, and the other one receives it, over an air."""

    what: str
    air_name: str
    air: airs.AirFactory
    binaries: pathlib.Path
    seen: Seen | None = None
    sent: tuple[str, str, bool | str] | None = None

    @property
    def title(self) -> str:
        return f"{self.what}, over {self.air_name}"

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        try:
            with self.air(directory / "air.log") as air:
                if self.seen is not None:
                    return self.scan(self.seen, air, directory, limit)
                assert self.sent is not None
                return self.advertise(*self.sent, air, directory, limit)
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError) as error:
            return str(error)

    def bumble(self, transport: str, *options: str) -> list[str]:
        return [sys.executable, str(HERE / "bumble_air.py"), transport, *options]

    def ble(self, transport: str, directory: pathlib.Path, *arguments: str) -> list[str]:
        return [str(self.binaries / "ble"), *arguments, "--transport", transport, "--bonds", str(directory / "bonds")]

    def scan(self, seen: Seen, air: airs.Air, directory: pathlib.Path, limit: float) -> str | None:
        theirs = self.bumble(air.transports[0], "--data", seen.data.hex(), *seen.theirs)
        if seen.response:
            theirs += ["--response", seen.response.hex()]
        if seen.connectable:
            theirs += ["--connectable"]
        with running(theirs, directory / "theirs.log", "advertising"):
            ours = self.ble(air.transports[1], directory, "scan", "--json", *seen.options)
            return self.read(ours, seen, directory, limit)

    def read(self, command: list[str], seen: Seen, directory: pathlib.Path, limit: float) -> str | None:
        """Reads lines until one has all that is expected. The program does not end on its own."""
        last = "nothing"
        with open(directory / "ours.log", "wb") as log, subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, stdin=subprocess.DEVNULL) as process:
            assert process.stdout is not None
            # Lines come for as long as it scans; without any, this ends it.
            timer = threading.Timer(limit, process.kill)
            timer.start()
            try:
                for line in process.stdout:
                    if any(octet < 0x20 or octet == 0x7F for octet in line.rstrip(b"\n")) or b"\xe2\x80\xae" in line:
                        return f"a terminal would obey {line!r}"
                    last = line.decode()
                    if self.problem(json.loads(line), seen) is None:
                        process.terminate()
                        status = process.wait(timeout=airs.LIMIT)
                        return None if status == 128 + 15 else f"ended with status {status}"
            finally:
                timer.cancel()
                airs.stop(process)
        return f"not seen as expected, but as {last.strip()}"

    @staticmethod
    def problem(found: dict[str, Any], seen: Seen) -> str | None:
        expected = {"address": BUMBLE, **seen.members}
        for name, value in expected.items():
            actual = found.get(name)
            if isinstance(value, type) and isinstance(actual, value):
                continue
            if actual != value:
                return f"{name} is {actual!r}, and not {value!r}"
        return None if found["time"].endswith("Z") and len(found["time"]) == 24 else f"the time is {found['time']}"

    def advertise(
        self, options: str, octets: str, connectable: bool | str, air: airs.Air, directory: pathlib.Path, limit: float
    ) -> str | None:
        ours = self.ble(air.transports[0], directory, *options.split())
        with running(ours, directory / "ours.log", "ble: advertising"):
            theirs = self.bumble(air.transports[1], "--address", "F0:0D:00:00:00:02")
            with open(directory / "theirs.log", "wb") as log:
                result = subprocess.run(theirs, stdout=subprocess.PIPE, stderr=log, timeout=limit, check=False)
        expected = f"{octets} {connectable}"
        actual = result.stdout.decode().strip()
        return None if actual == expected else f"Bumble has received {actual}, and not {expected}"


ENTERED, LEFT = b"\x1b[?1049h", b"\x1b[?1049l"


def press(key: bytes) -> Callable[[int, int], None]:
    return lambda terminal, _process: None if os.write(terminal, key) else None


def send(number: int) -> Callable[[int, int], None]:
    return lambda _terminal, process: os.kill(process, number)


# What ends the table, and the status then.
ENDS: list[tuple[str, Callable[[int, int], None], int]] = [
    ("q", press(b"q"), 0), ("Ctrl-C", press(b"\x03"), 128 + signal.SIGINT),
    ("SIGTERM", send(signal.SIGTERM), 128 + signal.SIGTERM), ("SIGHUP", send(signal.SIGHUP), 128 + signal.SIGHUP),
]


@dataclass
class TerminalCase(Case):
    """A table on a terminal, with a device whose name contains control characters."""

    end: Callable[[int, int], None] = press(b"q")
    status: int = 0

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        try:
            with self.air(directory / "air.log") as air:
                data = structures(FLAGS, (0x09, b"a\x1b[31mb")).hex()
                theirs = self.bumble(air.transports[0], "--data", data, "--connectable")
                with running(theirs, directory / "theirs.log", "advertising"):
                    return self.table(self.ble(air.transports[1], directory, "scan"), directory, limit)
        except (OSError, RuntimeError) as error:
            return str(error)

    def table(self, command: list[str], directory: pathlib.Path, limit: float) -> str | None:
        terminal, end_of_program = pty.openpty()
        before = termios.tcgetattr(terminal)
        shown = b""
        # Its terminal, whose signals end it as they do by default, also under nohup.
        own_terminal = ["env", "--default-signal=HUP", "setsid", "--ctty"]
        with subprocess.Popen(
                own_terminal + command, stdin=end_of_program, stdout=end_of_program, stderr=end_of_program,
                env={**os.environ, "TERM": "xterm", "COLUMNS": "100"}) as process:
            deadline, is_told = time.monotonic() + limit, False
            while process.poll() is None and time.monotonic() < deadline:
                if select.select([terminal], [], [], 0.05)[0]:
                    shown += os.read(terminal, 1 << 16)
                if b"a\\u{1B}[" in shown and not is_told:
                    is_told = True
                    self.end(terminal, process.pid)
            while select.select([terminal], [], [], 0)[0]:
                shown += os.read(terminal, 1 << 16)
            airs.stop(process)
        after = termios.tcgetattr(terminal)
        os.close(terminal)
        os.close(end_of_program)
        (directory / "terminal.log").write_bytes(shown)
        # Python says -15 of a process that was killed by a signal: that would not be the program's own doing.
        if process.returncode != self.status:
            return f"ended with status {process.returncode}, and not {self.status}"
        if before != after:
            return f"the terminal was {before}, and is {after}"
        if shown.count(ENTERED) != 1 or shown.count(LEFT) != 1 or shown.rfind(ENTERED) > shown.rfind(LEFT):
            return "the other screen was not left"
        return "a terminal would obey the name" if b"a\x1b[31m" in shown else None


@dataclass
class PeriodicCase(Case):
    """One of our programs advertises periodically, and another one follows that."""

    octets: str = "0416050A15"
    # How the device, and its set, are named.
    device: tuple[str, ...] = ("00:1B:DC:00:00:01/P", "--set", "3")
    # What `ble sync` says where it must not find the device.
    refusal: str | None = None

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        try:
            with self.air(directory / "air.log") as air:
                theirs = self.ble(air.transports[0], directory, "advertise", "--name", "Clock", "--sid", "3",
                                  "--periodic", self.octets)
                ours = self.ble(air.transports[1], directory, "sync", *self.device, "--json", "--count", "2")
                with running(theirs, directory / "theirs.log", "ble: advertising"):
                    with open(directory / "ours.log", "wb") as log:
                        result = subprocess.run(ours, stdout=subprocess.PIPE, stderr=log, timeout=limit, check=False)
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError) as error:
            return str(error)
        if self.refusal is not None:
            said = (directory / "ours.log").read_text(encoding="utf-8")
            is_right = result.returncode == 3 and not result.stdout and self.refusal in said
            return None if is_right else f"ended with status {result.returncode} and said {said!r}"
        reports = [json.loads(line) for line in result.stdout.splitlines()]
        if result.returncode != 0 or len(reports) != 2:
            return f"ended with status {result.returncode} after {len(reports)} reports"
        wrong = [each for each in reports if (each["sid"], each["data"]) != (3, self.octets)]
        return f"it has brought {wrong}" if wrong else None


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Each over our own radio, and one of either kind over Bumble's controllers, too, which send no scan response."""
    ours = ("our legacy radio", functools.partial(airs.our_legacy_radio, binaries))
    theirs = ("Bumble's controllers", airs.bumble_controllers)
    cases: list[Case] = []
    for seen in SEEN:
        for air_name, air in [ours, theirs] if seen is SEEN[1] else [ours]:
            cases.append(Case(f"ble scan sees {seen.name}", air_name, air, binaries, seen=seen))
    for sent in SENT:
        cases.append(Case(f"Bumble sees ble {sent[0]}", *ours, binaries, sent=sent))
    # Bumble's controllers say of everything from a set that it came in extended PDUs, on LE 1M.
    options, octets, _ = SENT[0]
    cases.append(Case(f"Bumble sees ble {options}", *theirs, binaries, sent=(options, octets, "True 0 1 False")))
    extended = [("our radio", functools.partial(airs.our_radio, binaries))]
    if airs.rootcanal_binary() is not None:
        extended.append(("RootCanal", airs.rootcanal))
    for air_name, air in extended:
        # RootCanal keeps the address of an anonymous set.
        is_anonymous_kept = air_name != "RootCanal"
        for seen in EXTENDED_SEEN:
            if "--anonymous" in seen.theirs and not is_anonymous_kept:
                continue
            cases.append(Case(f"ble scan sees {seen.name}", air_name, air, binaries, seen=seen))
        for options, octets, rest in EXTENDED_SENT:
            if "--anonymous" in options and not is_anonymous_kept:
                continue
            title = f"Bumble sees ble {options if len(options) < 80 else 'advertise with 500 octets in a set on LE 2M'}"
            cases.append(Case(title, air_name, air, binaries, sent=(options, octets, rest)))
    cases.append(PeriodicCase("ble sync follows ble advertise --periodic", *extended[0], binaries))
    cases.append(
        PeriodicCase(
            "ble sync finds a set by the name of its device", *extended[0], binaries, device=("Clock",)))
    cases.append(
        PeriodicCase(
            "ble sync needs the exact name", *extended[0], binaries, device=("Clo", "--timeout", "8"),
            refusal='no device named "Clo" yet; "Clock" is advertising'))
    for what, end, status in ENDS:
        name = f"ble scan restores the terminal after {what}"
        cases.append(TerminalCase(name, *ours, binaries, end=end, status=status))
    return cases
