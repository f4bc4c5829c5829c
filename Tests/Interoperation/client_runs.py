"""The runs of `ble read`, `write`, `notify` and `bench` for `client.py`, with their expected results."""

from __future__ import annotations

import csv
import io
import json
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import agreed

PAYLOAD = pathlib.Path(__file__).resolve().parent / "card.vcf"
ADDRESS = "F0:0D:00:00:00:01"
DONE, USAGE, NOT_FOUND, LINK_LOST, TRANSPORT_FAILED = 0, 2, 3, 4, 5


@dataclass
class Run:
    """One run of `ble`: its arguments and its expected result."""

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


# MARK: What is printed

def objects(*wanted: dict[str, object]) -> Callable[[str], str | None]:
    """Checks JSON: one object per line, each with these members, a time and the address."""

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
    """Checks comma-separated values: the characteristic, the value and the decoded value of each row."""

    def check(output: str) -> str | None:
        table = list(csv.DictReader(io.StringIO(output)))
        found = [[row["characteristic"], row["value"], row["decoded"]] for row in table]
        return None if found == list(wanted) else f"it printed the rows {found}"

    return check


def measurement(output: str) -> str | None:
    """Checks the result of `ble bench --json`."""
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
        Run(["read", agreed.VALUES_NAME, "180F/2A19", "2A38"], output=["2A19  87 %", '2A38  "chest"']),
        # The beginning of a name is not enough, and a name that is close is listed.
        Run(["read", "Bad\x1b[2J", "2A19", "--timeout", "8"], NOT_FOUND, output=[],
            words=['no device named "Bad\\u{1B}[2J" yet; "Bad\\u{1B}[2J', 'was not found in 8 s; did you mean "Bad\\u{1B}[2J']),
        Run(["read", agreed.VALUES_NAME.replace("Name", "Nmae"), "2A19", "--timeout", "8"], NOT_FOUND, output=[],
            words=['yet; "Bad\\u{1B}[2J', 'was not found in 8 s; did you mean "Bad\\u{1B}[2J']),
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
            output=["F203  68 65 6C 6C 6F (not u32: 5 octets is the wrong length)", "F203  67305985"]),
        Run(["read", ADDRESS, "2A19", "F204"], LINK_LOST, output=["2A19  87 %"],
            words=["F204: the peer refused", "try --pair"]),
        Run(["read", ADDRESS, "2A6E"], NOT_FOUND, output=[], words=["has no 2A6E"]),
        Run(["read", "C0:00:00:00:00:01", "2A19", "--timeout", "1"], NOT_FOUND, output=[],
            words=["in 1 s; move closer"]),
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
        Run(["notify", agreed.VALUES_NAME, "F205", "--count", "4"],
            output=["1B 5B 33 31 6D 72 65 64 0D 0A", "FF FE 9B", '"plain text"', "E2 80 AE 64 72 61 63"]),
        Run(["notify", ADDRESS, "F205", "--count", "4", "--format", "utf8"],
            output=["\\u{1B}[31mred\\r\\n", "���", "plain text", "\\u{202E}drac"]),
        Run(["notify", ADDRESS, "F205", "--count", "2", "--csv", "--format", "utf8"],
            check=rows(["F205", "1B5B33316D7265640D0A", "\\u{1B}[31mred\\r\\n"], ["F205", "FFFE9B", "���"])),
        Run(["notify", ADDRESS, "2A37", "F205", "--count", "100"],
            check=lambda output: None if {line[:4] for line in output.splitlines()} == {"2A37", "F205"} else output),
        Run(["notify", ADDRESS, "2A19", "--count", "1"], NOT_FOUND, output=[],
            words=["2A19: the characteristic supports neither"]),
        Run(["notify", ADDRESS, "2A6E", "--count", "1"], NOT_FOUND, output=[], words=["has no 2A6E"]),
        Run(["notify", ADDRESS, "0x0001", "--count", "1"], USAGE, output=[], words=["is not a characteristic"]),
   ]


def reconnect_runs() -> list[Run]:
    numbers = [str(number) for number in [*range(5), *range(3)]]
    return [Run(["notify", ADDRESS, "F206", "--format", "u16", "--count", "8", "--reconnect"], output=numbers,
                words=["disconnected: the peer ended the connection; trying again in 1 s"])]


def changing_runs() -> list[Run]:
    """With a peer whose services change, and that keeps sending the subscribed values."""
    words = "the peer's services have changed; discover them again"
    numbers = [str(number) for number in [*range(5), *range(3)]]
    notify = ["notify", ADDRESS, "F206", "--format", "u16"]
    return [Run([*notify, "--count", "8", "--reconnect"], output=numbers, words=[words + "; trying again in 1 s"])]


def leaving_runs() -> list[Run]:
    return [Run(["notify", ADDRESS, "F206", "--format", "u16"], LINK_LOST, output=[str(number) for number in range(5)],
                words=["disconnected: the peer ended the connection"])]


def lossy_runs() -> list[Run]:
    """With a peer that sends a broken frame after two notifications, and continues."""
    payload, size = PAYLOAD.read_bytes(), agreed.CHUNK_SIZE
    pieces = [payload[at : at + size].decode("utf-8", "replace") for at in (0, size, 3 * size)]
    chunks = [piece.replace("\r", "\\r").replace("\n", "\\n") for piece in pieces]
    notify = ["notify", ADDRESS, agreed.CARD_CHARACTERISTIC, "--count", "3"]

    def losses(output: str) -> str | None:
        found = ["dataLost" if "dataLost" in line else "value" for line in map(json.loads, output.splitlines())]
        return None if found == ["value", "value", "dataLost", "value"] else output

    return [
        Run([*notify, "--format", "utf8"], output=[*chunks[:2], "(values were lost here)", chunks[2]]),
        Run([*notify, "--json"], check=losses),
    ]


def silent_runs() -> list[Run]:
    return [Run(["read", ADDRESS, "2A00", "--timeout", "3"], LINK_LOST, output=[], words=["did not answer"])]


def unanswered_runs() -> list[Run]:
    """With a peer that does not answer the request to subscribe."""
    # It ends before there is a subscription, which is no success.
    return [Run(["notify", ADDRESS, agreed.CARD_CHARACTERISTIC, "--time", "1"], LINK_LOST, output=[],
                words=[f"could not subscribe to {ADDRESS} in 1 s"])]


def refused_bench_runs() -> list[Run]:
    return [Run(["bench", ADDRESS], NOT_FOUND, output=[], words=["does not run ble bench --serve"])]


def bench_runs() -> list[Run]:
    short = ["--time", "0.5", "--round-trips", "20"]
    return [
        Run(["bench", *short, "--json"], check=measurement),
        Run(["bench", "our\x1b[2J", *short], check=lambda output: None if "round trips" in output else output),
   ]


def argument_runs() -> list[Run]:
    """Arguments that are rejected, and the errors, without any controller."""
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
        ("bench", ADDRESS, "--serve"): "with --serve, this command is the device",
    }
    runs = [Run(list(arguments), USAGE, output=[], words=[words]) for arguments, words in refused.items()]
    return runs + [Run(["read", ADDRESS, "2A19"], TRANSPORT_FAILED, output=[], words=["/nonexistent"])]
