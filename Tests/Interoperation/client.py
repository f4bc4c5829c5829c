"""`ble read`, `write`, `notify` and `bench` with Bumble's host and with our own, and wrong arguments."""

from __future__ import annotations

import contextlib
import csv
import functools
import io
import json
import os
import pathlib
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import airs
import bumble_values
import hostile

HERE = pathlib.Path(__file__).resolve().parent
ADDRESS = "F0:0D:00:00:00:01"
DONE, USAGE, NOT_FOUND, LINK_LOST, TRANSPORT_FAILED = 0, 2, 3, 4, 5
# What must never reach a terminal: control characters other than the ends of lines, and what turns text around.
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")


@dataclass
class Run:
    """One run of `ble`: its arguments, and what must come of it."""

    arguments: list[str]
    status: int = DONE
    # All lines of standard output; nil where `check` looks at them.
    output: list[str] | None = None
    # What standard error must contain.
    words: list[str] = field(default_factory=list)
    # Looks at standard output, and returns what is wrong.
    check: Callable[[str], str | None] | None = None
    # What the peer must say.
    their_words: list[str] = field(default_factory=list)


@dataclass
class Case:
    """Runs with a peer over an air, or without either."""

    title: str
    binaries: pathlib.Path
    runs: list[Run]
    # The peer's command, for its transport; nil for none.
    peer: Callable[[str], list[str]] | None = None
    air_name: str = ""
    air: airs.AirFactory | None = None

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs all of it. Returns the error, or nothing."""
        deadline = time.monotonic() + limit
        try:
            with contextlib.ExitStack() as stack:
                transport, log = "unix-client:/nonexistent", directory / "theirs.log"
                if self.air is not None and self.peer is not None:
                    air = stack.enter_context(self.air(directory / "air.log"))
                    transport = air.transports[1]
                    stack.enter_context(peer(self.peer(air.transports[0]), log, deadline))
                for run in self.runs:
                    if problem := self.run_once(run, transport, directory, log, deadline):
                        return f"ble {' '.join(run.arguments)!r}: {problem}"
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError) as error:
            return str(error)
        return None

    def run_once(
        self, run: Run, transport: str, directory: pathlib.Path, log: pathlib.Path, deadline: float
    ) -> str | None:
        common = ["--transport", transport, "--bonds", str(directory / "bonds")]
        # Options stand before the end of the options.
        at = run.arguments.index("--") if "--" in run.arguments else len(run.arguments)
        command = [str(self.binaries / "ble"), *run.arguments[:at], *common, *run.arguments[at:]]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=max(deadline - time.monotonic(), 0.1),
            check=False)
        with open(directory / "ours.log", "ab") as file:
            file.write(f"{run.arguments}\n".encode() + done.stdout + done.stderr)
        # It decodes, whatever a peer sends.
        output, errors = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        if found := CONTROL.search(output + errors):
            return f"it printed {found[0]!r}"
        if done.returncode != run.status:
            return f"it ended with status {done.returncode} and not {run.status}: {errors.strip()}"
        if run.output is not None and output.splitlines() != run.output:
            return f"it printed {output.splitlines()}"
        for text in run.words:
            if text not in errors:
                return f"it did not say “{text}” but “{errors.strip()}”"
        for text in run.their_words:
            said = log.read_text(encoding="utf-8")
            if text not in said:
                return f"the peer did not say “{text}” but “{said}”"
        return run.check(output) if run.check else None


@contextlib.contextmanager
def peer(command: list[str], log: pathlib.Path, deadline: float) -> Iterator[None]:
    """Runs a peer for as long as the context lasts, from when it advertises."""
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    try:
        while b"advertising" not in log.read_bytes():
            if process.poll() is not None:
                raise RuntimeError(f"the peer ended with status {process.returncode}")
            if time.monotonic() > deadline:
                raise RuntimeError("the peer did not advertise")
            time.sleep(0.02)
        yield
    finally:
        airs.stop(process)


# MARK: What is printed

def objects(*wanted: dict[str, object]) -> Callable[[str], str | None]:
    """Looks at JSON: an object a line, each with these members, a time and the address."""

    def check(output: str) -> str | None:
        lines = output.splitlines()
        if len(lines) != len(wanted):
            return f"it printed {len(lines)} lines and not {len(wanted)}"
        for line, members in zip(lines, wanted, strict=True):
            found = json.loads(line)
            if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", found.get("time", "")):
                return f"no time in {line}"
            for name, value in {"address": ADDRESS, **members}.items():
                if found.get(name) != value:
                    return f"its {name} is {found.get(name)!r} and not {value!r}"
        return None

    return check


def rows(*wanted: list[str]) -> Callable[[str], str | None]:
    """Looks at comma-separated values: the characteristic, the value and the decoded value of each row."""

    def check(output: str) -> str | None:
        table = list(csv.DictReader(io.StringIO(output)))
        found = [[row["characteristic"], row["value"], row["decoded"]] for row in table]
        return None if found == list(wanted) else f"it printed the rows {found}"

    return check


def measurement(output: str) -> str | None:
    """Looks at the result of `ble bench --json`."""
    found = json.loads(output)
    trips = found["roundTrips"]
    if not 0 < trips["minimum"] <= trips["median"] <= trips["p99"] or trips["count"] != 20:
        return f"the round trips are {trips}"
    if found["mtu"] < 23 or not 7.5 <= found["interval"] <= 4000:
        return f"ATT_MTU {found['mtu']}, interval {found['interval']}"
    for name in "writes", "notifications":
        if found[name]["octets"] <= 0 or found[name]["bitsPerSecond"] <= 0 or found[name]["lostOctets"] != 0:
            return f"the {name} are {found[name]}"
    return None


# MARK: Runs

def read_runs() -> list[Run]:
    hostile_text = '"Acme\\u{1B}[2J\\u{202E}�"'
    return [
        Run(["read", ADDRESS, "2A19"], output=["87 %"]),
        Run(["read", bumble_values.NAME, "180F/2A19", "2A38"], output=["2A19  87 %", '2A38  "chest"']),
        Run(["read", ADDRESS, "2A29"], output=[hostile_text]),
        Run(["read", ADDRESS, "2A29", "--format", "utf8"], output=[hostile_text[1:-1]]),
        Run(["read", ADDRESS, "2A29", "--format", "hex"], output=["41 63 6D 65 1B 5B 32 4A E2 80 AE FF"]),
        Run(["read", ADDRESS, "2A29", "--csv"],
            check=rows(["2A29", "41636D651B5B324AE280AEFF", hostile_text])),
        Run(["read", ADDRESS, "2A29", "2A19", "--json"],
            check=objects({"characteristic": "2A29", "value": "41636D651B5B324AE280AEFF",
                           "fields": {"text": "Acme\x1b[2J\u202e�"}},
                          {"characteristic": "2A19", "fields": {"percentage": 87}})),
        # A UUID stands for all that have it; a service tells them apart. A descriptor is printed escaped, too.
        Run(["read", ADDRESS, "F203"], output=['F203  "hello"', "F203  01 02 03 04"]),
        Run(["read", ADDRESS, "F300/F203", "--format", "u16"], output=["513 1027"]),
        Run(["read", ADDRESS, "2901"], output=["66 69 72 73 74 1B 5B 32 4A"]),
        Run(["read", ADDRESS, "0x0003"],
            output=["42 61 64 1B 5B 32 4A 1B 5D 30 3B 6F 77 6E 65 64 07 E2 80 AE 4E 61 6D 65"]),
        Run(["read", ADDRESS, "F203", "--format", "u32"], LINK_LOST,
            output=["F203  68 65 6C 6C 6F (no u32, which does not fit into 5 octets)", "F203  67305985"]),
        Run(["read", ADDRESS, "2A19", "F204"], LINK_LOST, output=["2A19  87 %"],
            words=["F204: the peer refused", "try --pair"]),
        Run(["read", ADDRESS, "2A6E"], NOT_FOUND, output=[], words=["has no 2A6E"]),
        Run(["read", "C0:00:00:00:00:01", "2A19", "--timeout", "1"], NOT_FOUND, output=[],
            words=["was not connected in 1 s"]),
        Run(["read", "No\x1b[2Jbody", "2A19", "--timeout", "1"], NOT_FOUND, output=[],
            words=['"No\\u{1B}[2Jbody" was not found in 1 s']),
   ]


def write_runs() -> list[Run]:
    return [
        Run(["write", ADDRESS, "F201", "01ff"], output=[], words=["F201: written, 2 octets"],
            their_words=["written: 01ff"]),
        Run(["read", ADDRESS, "F201"], output=["01 FF"]),
        # Without response, since it has nothing else; it has arrived when the program ends.
        Run(["write", ADDRESS, "F202", "0a0b"], their_words=["written: 0a0b"]),
        Run(["write", ADDRESS, "--format", "i16", "--", "F201", "-2", "F200/F202", "1,0x10"],
            their_words=["written: feff", "written: 01001000"]),
        Run(["write", ADDRESS, "F201", "\x1b\u202e", "--format", "utf8"], their_words=["written: 1be280ae"]),
        Run(["write", ADDRESS, "F201", "42" * 300], their_words=["written: " + "42" * 300]),
        Run(["write", ADDRESS, "F204", "00"], LINK_LOST, words=["F204: the peer refused", "try --pair"]),
        Run(["write", ADDRESS, "F203", "00"], USAGE, words=["several F203"]),
        Run(["write", ADDRESS, "F209", "00"], NOT_FOUND, words=["has no F209"]),
   ]


def notify_runs() -> list[Run]:
    heart = {"characteristic": "2A37", "value": "10480004", "fields": {"heartRate": 72, "rrIntervals": [1.0]}}
    return [
        Run(["notify", ADDRESS, "2A37", "--count", "2"], output=["72 beats/min, rrIntervals 1.0 s"] * 2),
        Run(["notify", ADDRESS, "2A37", "--count", "2", "--json"], check=objects(heart, heart)),
        Run(["notify", bumble_values.NAME, "F205", "--count", "4"],
            output=["1B 5B 33 31 6D 72 65 64 0D 0A", "FF FE 9B", '"plain text"', "E2 80 AE 64 72 61 63"]),
        Run(["notify", ADDRESS, "F205", "--count", "4", "--format", "utf8"],
            output=["\\u{1B}[31mred\\r\\n", "���", "plain text", "\\u{202E}drac"]),
        Run(["notify", ADDRESS, "F205", "--count", "2", "--csv", "--format", "utf8"],
            check=rows(["F205", "1B5B33316D7265640D0A", "\\u{1B}[31mred\\r\\n"], ["F205", "FFFE9B", "���"])),
        Run(["notify", ADDRESS, "2A37", "F205", "--time", "1"],
            check=lambda output: None if {line[:4] for line in output.splitlines()} == {"2A37", "F205"} else output),
        Run(["notify", ADDRESS, "2A19", "--count", "1"], NOT_FOUND, output=[],
            words=["2A19: the characteristic neither"]),
        Run(["notify", ADDRESS, "2A6E", "--count", "1"], NOT_FOUND, output=[], words=["has no 2A6E"]),
        Run(["notify", ADDRESS, "0x0001", "--count", "1"], USAGE, output=[], words=["is no characteristic"]),
   ]


def reconnect_runs() -> list[Run]:
    numbers = [str(number) for number in [*range(5), *range(3)]]
    return [Run(["notify", ADDRESS, "F206", "--format", "u16", "--count", "8", "--reconnect"], output=numbers,
                words=["disconnected: the peer ended the connection; trying again in 1 s"])]


def leaving_runs() -> list[Run]:
    return [Run(["notify", ADDRESS, "F206", "--format", "u16"], LINK_LOST, output=[str(number) for number in range(5)],
                words=["disconnected: the peer ended the connection"])]


def bench_runs() -> list[Run]:
    short = ["--time", "0.5", "--round-trips", "20"]
    return [
        Run(["bench", *short, "--json"], check=measurement),
        Run(["bench", "our \x1b[2Jbench", *short], check=lambda output: None if "round trips" in output else output),
   ]


def argument_runs() -> list[Run]:
    """What is refused, and why, without any controller."""
    refused = {
        ("read",): "Missing expected argument '<device>'",
        ("read", ADDRESS): "Missing expected argument '<uuid> ...'",
        ("read", "C0:11", "2A19"): "an address has six octets",
        ("read", ADDRESS, "heart"): "give a UUID such as 2A37",
        ("read", ADDRESS, "0x0"): "or a handle such as 0x0010",
        ("read", ADDRESS, "180D/2A37/1"): "SERVICE/UUID such as 180D/2A37",
        ("read", ADDRESS, "2A19", "--csv", "--json"): "choose one",
        ("read", ADDRESS, "2A19", "--format", "u64"): "u64",
        ("read", ADDRESS, "2A19", "--formt", "u8"): "Did you mean '--format'?",
        ("read", ADDRESS, "2A19", "--timeout", "soon"): "a time is a number of seconds",
        ("raed", ADDRESS, "2A19"): "Did you mean 'read'?",
        ("write", ADDRESS, "2A06"): "each uuid needs a value",
        ("write", ADDRESS, "2A06", "1"): "give octets in hexadecimal",
        ("write", ADDRESS, "2A06", "x\x1b[2J"): '"x\\u{1B}[2J" cannot be written',
        ("write", ADDRESS, "2A06", "256", "--format", "u8"): "u8 is one number or several",
        ("write", ADDRESS, "2A37", "72", "--format", "heart-rate"): "can be shown, not written",
        ("write", ADDRESS, "2A06", "01", "--signed", "--without-response"): "leave out --without-response",
        ("notify", ADDRESS, "2A37", "--count", "0"): "a number, at least 1",
        ("bench", ADDRESS, "--serve"): "with --serve this is the device",
    }
    runs = [Run(list(arguments), USAGE, output=[], words=[words]) for arguments, words in refused.items()]
    return runs + [Run(["read", ADDRESS, "2A19"], TRANSPORT_FAILED, output=[], words=["/nonexistent"])]


# MARK: Names and terminals

def ambiguous(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Two devices have one name, which is then not enough."""
    paths = [sockets / name for name in ("first", "second", "third")]
    name, ble = "the \u202esame", str(binaries / "ble")
    with contextlib.ExitStack() as stack:
        stack.enter_context(hostile.radio(binaries, directory, paths))
        for path in paths[:2]:
            command = [ble, "bench", "--serve", "--name", name, "--transport", f"unix-client:{path}"]
            stack.enter_context(peer(command, directory / f"{path.name}.log", time.monotonic() + 20))
        done = subprocess.run(
            [ble, "read", name, "2A00", "--transport", f"unix-client:{paths[2]}"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=30, check=False)
    wanted = 'several devices are named "the \\u{202E}same": 00:1B:DC:00:00:0'
    if done.returncode != USAGE or wanted not in done.stderr or done.stderr.count("00:1B:DC:00:00:0") != 2:
        return f"it ended with status {done.returncode}: {done.stderr}"
    return None


def shows_waiting(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """What is being waited for is shown on a terminal, in one line that is erased."""
    path = sockets / "host"
    with hostile.radio(binaries, directory, [path]):
        master, slave = pty.openpty()
        with open(master, "rb", buffering=0) as screen:
            process = subprocess.Popen(
                [str(binaries / "ble"), "read", "no\u202ebody", "2A00", "--timeout", "2", "--transport",
                 f"unix-client:{path}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=slave)
            os.close(slave)
            text = b""
            # Reading fails when nobody has the other end any more.
            with contextlib.suppress(OSError):
                while piece := screen.read(1 << 12):
                    text += piece
            status = process.wait(timeout=10)
    found = text.decode("utf-8")
    (directory / "screen.log").write_text(repr(found), encoding="utf-8")
    waiting = '\r\x1b[Kwaiting for "no\\u{202E}body", 1 of 2 s'
    for wanted in waiting, '\r\x1b[Kble: "no\\u{202E}body" was not found in 2 s':
        if wanted not in found:
            return f"it did not show {wanted!r} but {found!r}"
    return None if status == NOT_FOUND else f"it ended with status {status}"


# MARK: Cases

def all_cases(binaries: pathlib.Path) -> list[Case | hostile.Case]:
    """Every case there is with these executables."""
    def bumble(*options: str) -> Callable[[str], list[str]]:
        return lambda transport: [sys.executable, str(HERE / "bumble_values.py"), transport, *options]

    def ours(transport: str) -> list[str]:
        return [str(binaries / "ble"), "bench", "--serve", "--name", "our \x1b[2Jbench", "--transport", transport]

    our_radio = functools.partial(airs.our_radio, binaries)
    over: list[tuple[str, airs.AirFactory]] = [
        ("our radio", our_radio), ("Bumble's controllers", airs.bumble_controllers), ("RootCanal", airs.rootcanal)]
    cases = [Case("the arguments of ble read, write, notify and bench", binaries, argument_runs())]
    for name, air in over:
        cases += [
            Case(f"ble bench with our own, over {name}", binaries, bench_runs(), ours, name, air),
            Case(f"ble read with Bumble's values, over {name}", binaries, read_runs(), bumble(), name, air),
            Case(f"ble write with Bumble's values, over {name}", binaries, write_runs(), bumble(), name, air),
            Case(f"ble notify with Bumble's values, over {name}", binaries, notify_runs(), bumble(), name, air),
       ]
    return [
        *cases,
        hostile.Case("two devices with the name that ble read was given", functools.partial(ambiguous, binaries)),
        hostile.Case("ble read shows on a terminal what it waits for", functools.partial(shows_waiting, binaries)),
        Case("ble bench with a peer that does not serve it", binaries,
             [Run(["bench", ADDRESS], NOT_FOUND, output=[], words=["does not run ble bench --serve"])], bumble(),
             "our radio", our_radio),
        Case("ble notify when the peer leaves", binaries, leaving_runs(), bumble("--leave", "5"), "our radio",
             our_radio),
        Case("ble notify --reconnect when the peer leaves", binaries, reconnect_runs(), bumble("--leave", "5"),
             "our radio", our_radio),
   ]
