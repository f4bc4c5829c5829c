"""Devices that `ble` inspects, serves, records and replays: against Bumble, and over a bare descriptor.

The databases stand here as attributes in bytes, written down independently of either side.
"""

from __future__ import annotations

import contextlib
import functools
import json
import pathlib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import agreed
import airs
from hostile import Case

HERE = pathlib.Path(__file__).resolve().parent

# A row is a handle, the attribute's type, and its value, or the error it is refused with, or nothing for what belongs to
# each client.
Row = list[object]

VENDOR = "12345678000010008000AABBCCDDEEFF"
VENDOR_VALUE = "12345679000010008000AABBCCDDEEFF"
VENDOR_BYTES = bytes.fromhex(VENDOR)[::-1].hex().upper()
VENDOR_VALUE_BYTES = bytes.fromhex(VENDOR_VALUE)[::-1].hex().upper()

# That of bumble_device.
DATABASE: list[Row] = [
    [1, "2800", "0018"],
    [2, "2803", "020300002A"],
    [3, "2A00", "50726F62651B5B324AE280AE"],
    [4, "2801", "0F18"],
    [5, "2803", "120600192A"],
    [6, "2A19", "64"],
    [7, "2902", None],
    [8, "2800", VENDOR_BYTES],
    [9, "2802", "040007000F18"],
    [10, "2803", "0A0B00" + VENDOR_VALUE_BYTES],
    [11, VENDOR_VALUE, bytes(number % 251 for number in range(300)).hex().upper()],
    [12, "2901", "C3281B"],
    [13, "2803", "020E006E2A"],
    [14, "2A6E", "error 05"],
]
ENDS = {1: 3, 4: 7, 8: 14}

# One with gaps, a reserved end, a descriptor of its own for subscriptions, and none.
DOCUMENT = {
    "name": "Served\x1b[2J",
    "address": "C0:C1:C2:C3:C4:C5",
    "services": [
        {"uuid": "1800", "handle": 1, "characteristics": [
            {"uuid": "2A00", "properties": ["read"], "text": "Served\x1b[2J"}]},
        {"uuid": "180D", "handle": "0x0010", "endHandle": "0x001F",
         "includes": [{"service": "FEED", "handle": "0x0012"}, VENDOR[:8] + "-0000-1000-8000-AABBCCDDEEFF"],
         "characteristics": [
             {"uuid": "2A37", "handle": "0x0014", "valueHandle": "0x0016", "properties": ["notify"],
              "descriptors": [{"uuid": "2901", "text": "beats"}, {"uuid": "2902", "handle": "0x001A"}]},
             {"uuid": "2A38", "properties": ["read"], "permissions": {"readError": "insufficientAuthentication"}}]},
        {"uuid": "FEED", "type": "secondary", "handle": "0x0040", "characteristics": [
            {"uuid": "FEEE", "properties": ["read", "notify"], "value": "01 02", "addsDescriptors": False}]},
        {"uuid": "12345678-0000-1000-8000-AABBCCDDEEFF", "handle": "0xFFFE", "endHandle": "0xFFFF"},
    ],
    "notifications": [{"at": 50, "uuid": "2A37", "value": "00 48"}, {"at": 120, "uuid": "2A37", "value": "00 49"}],
}
SERVED: list[Row] = [
    [1, "2800", "0018"],
    [2, "2803", "020300002A"],
    [3, "2A00", "5365727665641B5B324A"],
    [0x10, "2800", "0D18"],
    [0x12, "2802", "40004200EDFE"],
    [0x13, "2802", "FEFFFFFF"],
    [0x14, "2803", "101600372A"],
    [0x16, "2A37", "error 02"],
    [0x17, "2901", "6265617473"],
    [0x1A, "2902", "0000"],
    [0x1B, "2803", "021C00382A"],
    [0x1C, "2A38", "error 05"],
    [0x40, "2801", "EDFE"],
    [0x41, "2803", "124200EEFE"],
    [0x42, "FEEE", "0102"],
    [0xFFFE, "2800", VENDOR_BYTES],
]
SERVED_GROUPS = [[1, 3, "1800"], [0x10, 0x1F, "180D"], [0xFFFE, 0xFFFF, VENDOR]]


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Every case there is with these executables."""
    over = {"our radio": functools.partial(airs.our_radio, binaries), "Bumble's controllers": airs.bumble_controllers}
    tests: dict[str, Callable[[pathlib.Path, pathlib.Path, pathlib.Path], str | None]] = {}
    for name, air in over.items():
        tests[f"ble inspect of Bumble's server over {name}"] = functools.partial(inspect_bumble, air)
        tests[f"Bumble's client with ble serve over {name}"] = functools.partial(serve_bumble, air)
        tests[f"ble record of Bumble's server, and ble replay, over {name}"] = functools.partial(record_bumble, air)
    tests["raw octets with ble serve over a descriptor"] = serve_descriptor
    tests["ble inspect over a descriptor with ble serve at its other end"] = inspect_descriptor
    tests["descriptors that are not bearers"] = refuse_descriptors
    return [Case(title, functools.partial(test, binaries)) for title, test in tests.items()]


# MARK: Documents

def little(uuid: str) -> str:
    return bytes.fromhex(uuid.replace("-", ""))[::-1].hex().upper()


def number(handle: str) -> int:
    return int(handle, 16)


PROPERTIES = ["broadcast", "read", "writeWithoutResponse", "write", "notify", "indicate", "authenticatedSignedWrites",
              "extendedProperties"]


def value_of(part: dict[str, object]) -> object:
    permissions = part.get("permissions", {})
    if "readError" in permissions:  # type: ignore[operator]
        return {"insufficientAuthentication": "error 05"}[permissions["readError"]]  # type: ignore[index]
    return str(part.get("value", "")).replace(" ", "")


def rows(document: dict[str, object], ends: dict[int, int]) -> list[Row]:
    """The attributes of one of our documents. Adds the ends of its services to `ends`."""
    found: list[Row] = []
    services: list[dict] = document["services"]  # type: ignore[assignment]
    for service in services:
        found.append([
            number(service["handle"]), "2801" if service.get("type") == "secondary" else "2800", little(service["uuid"])])
        first = len(found)
        for characteristic in service.get("characteristics", []):
            properties = sum(1 << PROPERTIES.index(word) for word in characteristic["properties"])
            value = number(characteristic["valueHandle"])
            uuid = characteristic["uuid"]
            found.append([
                number(characteristic["handle"]), "2803",
                bytes([properties, value & 0xFF, value >> 8]).hex().upper() + little(uuid)])
            found.append([value, uuid.replace("-", ""), value_of(characteristic)])
            for descriptor in characteristic.get("descriptors", []):
                found.append([
                    number(descriptor["handle"]), descriptor["uuid"],
                    None if descriptor["uuid"] == "2902" else value_of(descriptor)])
        last = max(row[0] for row in found[first - 1:])  # type: ignore[type-var]
        ends[number(service["handle"])] = number(service["endHandle"]) if "endHandle" in service else last
    for service in services:
        for include in service.get("includes", []):
            target = number(include["service"])
            other = next(other for other in services if number(other["handle"]) == target)
            end = ends[target]
            octets = bytes([target & 0xFF, target >> 8, end & 0xFF, end >> 8]).hex().upper()
            found.append([
                number(include["handle"]), "2802", octets + (little(other["uuid"]) if len(other["uuid"]) == 4 else "")])
    return sorted(found, key=lambda row: row[0])  # type: ignore[arg-type,return-value]


def difference(found: list[Row], expected: list[Row]) -> str | None:
    """The first row in which two databases differ."""
    for one, other in zip(found, expected):
        if one != other:
            return f"found {one}, expected {other}"
    return None if len(found) == len(expected) else f"found {len(found)} attributes, expected {len(expected)}"


# MARK: Processes

@contextlib.contextmanager
def running(command: list[str], log: pathlib.Path, **options: object) -> Iterator[subprocess.Popen[bytes]]:
    with open(log, "ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        airs.stop(process)


def output(command: list[str], log: pathlib.Path, **options: object) -> str:
    """The output of a command, which must succeed."""
    with open(log, "ab") as errors:
        done = subprocess.run(  # type: ignore[call-overload]
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors, timeout=airs.LIMIT, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with status {done.returncode}")
    return done.stdout


def bumble(transport: str, *options: str) -> list[str]:
    return [sys.executable, str(HERE / "bumble_device.py"), transport, *options]


def check_text(text: str) -> str | None:
    """Checks that the output does not control a terminal."""
    if any((ord(character) < 0x20 and character != "\n") or character == "\u202e" for character in text):
        return "a control character was printed"
    return None


# MARK: Cases

AirFactory = Callable[[pathlib.Path], contextlib.AbstractContextManager[airs.Air]]


def inspect_bumble(air: AirFactory, binaries: pathlib.Path, logs: pathlib.Path, _: pathlib.Path) -> str | None:
    with air(logs / "air.log") as ends, running(bumble(ends.transports[0]), logs / "bumble.log"):
        command = [str(binaries / "ble"), "inspect", agreed.DEVICE_ADDRESS, "--transport", ends.transports[1]]
        tree = output(command, logs / "tree.log")
        text = output([*command, "--json"], logs / "inspect.log")
    if (problem := check_text(tree) or check_text(text)) is not None:
        return problem
    for line in ["0x0006  Battery Level (2A19)  read, notify", "cannot be read: Insufficient Authentication (0x05)",
                 "0x0004–0x0007  secondary service Battery", "\"Probe\\u{1B}[2J\\u{202E}\""]:
        if line not in tree:
            return f"the tree lacks {line}"
    return check_document(json.loads(text))


def check_document(document: dict[str, object]) -> str | None:
    """Whether a document is that of Bumble's server."""
    ends: dict[int, int] = {}
    if (problem := difference(rows(document, ends), DATABASE)) is not None:
        return problem
    return None if ends == ENDS else f"services end at {ends}"


def serve_bumble(air: AirFactory, binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path) -> str | None:
    file = sockets / "device.json"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    with air(logs / "air.log") as ends:
        serve = [str(binaries / "ble"), "serve", str(file), "--transport", ends.transports[0]]
        with running(serve, logs / "serve.log"):
            address = str(DOCUMENT["address"])
            read = json.loads(output(bumble(ends.transports[1], "--read", address), logs / "bumble.log"))
    if read["services"] != SERVED_GROUPS:
        return f"services are {read['services']}"
    if (problem := difference(read["attributes"], SERVED)) is not None:
        return problem
    said = (logs / "serve.log").read_text(encoding="utf-8")
    return None if "connected" in said else "ble serve did not say who connected"


def record_bumble(air: AirFactory, binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path) -> str | None:
    first, second = sockets / "first.json", sockets / "second.json"

    def record(transport: str, file: pathlib.Path) -> dict[str, object]:
        command = [str(binaries / "ble"), "record", agreed.DEVICE_ADDRESS, str(file), "--time", "3"]
        output([*command, "--transport", transport], logs / "record.log")
        return json.loads(file.read_text(encoding="utf-8"))

    with air(logs / "air.log") as ends:
        with running(bumble(ends.transports[0]), logs / "bumble.log"):
            one = record(ends.transports[1], first)
    with air(logs / "air.log") as ends:
        replay = [str(binaries / "ble"), "replay", str(first), "--transport", ends.transports[0]]
        with running(replay, logs / "replay.log"):
            other = record(ends.transports[1], second)
            read = json.loads(output(bumble(ends.transports[1], "--read", agreed.DEVICE_ADDRESS), logs / "read.log"))
    if (problem := check_document(one)) is not None:
        return f"recorded: {problem}"
    for document in (one, other):
        values = [entry["value"] for entry in document["notifications"]]  # type: ignore[attr-defined]
        if values != [f"{level:02X}" for level in agreed.LEVELS]:
            return f"notified {values}"
        advertised = [document[part]["data"].replace(" ", "") for part in ("advertisement", "scanResponse")]  # type: ignore[index]
        # Bumble's controllers send the advertising data once more where a scan response belongs.
        response = agreed.ADVERTISEMENT if air is airs.bumble_controllers else agreed.SCAN_RESPONSE
        if advertised != [agreed.ADVERTISEMENT.hex().upper(), response.hex().upper()]:
            return f"advertised {advertised}"
    # The times of two runs differ, and are compared where time is virtual.
    for document in (one, other):
        del document["notifications"]
    if one != other:
        return "what was replayed is another device"
    expected = [[handle, kind, "0000" if value is None else value] for handle, kind, value in DATABASE]
    return difference(read["attributes"], expected)


# MARK: Descriptors

@contextlib.contextmanager
def served(
    binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path
) -> Iterator[tuple[socket.socket, subprocess.Popen[str]]]:
    """`ble serve` at the other end of a socket."""
    file = sockets / "device.json"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.settimeout(airs.LIMIT)
        process = subprocess.Popen(
            [str(binaries / "ble"), "serve", str(file), "--bearer", f"fd:{theirs.fileno()}"], pass_fds=[theirs.fileno()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        theirs.close()
        try:
            yield ours, process
        finally:
            process.kill()
            process.wait()


def serve_descriptor(binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path) -> str | None:
    with served(binaries, logs, sockets) as (peer, process):
        exchanges = [
            ("02 00 02", "03 05 02"),
            ("10 01 00 FF FF 00 28", "11 06 01 00 03 00 00 18 10 00 1F 00 0D 18"),
            ("10 20 00 FF FF 00 28", "11 14 FE FF FF FF" + VENDOR_BYTES),
            ("04 10 00 15 00", "05 01 10 00 00 28 12 00 02 28 13 00 02 28 14 00 03 28"),
            ("0A 16 00", "01 0A 16 00 02"),
            ("0A 1C 00", "01 0A 1C 00 05"),
            ("0A 42 00", "0B 01 02"),
            ("", None),
            ("0A 03 00", "0B 53 65 72 76 65 64 1B 5B 32 4A"),
            # The subscription, and what the document notifies after it.
            ("12 1A 00 01 00", "13"),
            (None, "1B 16 00 00 48"),
            (None, "1B 16 00 00 49"),
        ]
        for request, response in exchanges:
            if request is not None:
                peer.send(bytes.fromhex(request))
            if response is not None and (answer := peer.recv(600)) != bytes.fromhex(response):
                return f"{request} was answered with {answer.hex(' ').upper()} and not {response}"
        assert process.stdin is not None
        # Lines that are wrong, one without a subscription, and two that are right. What has no descriptor for
        # subscriptions is notified to anybody.
        process.stdin.write(
            "\x1b[2J\u202e\nnotify 0x0016\nnotify 0x0099 01\nnotify 0x0016 00 4A\nindicate 0x0016 01\nnotify 66 0102\n")
        process.stdin.flush()
        for expected in ["1B 16 00", "1B 16 00 00 4A", "1B 42 00 01 02"]:
            if (packet := peer.recv(600)) != bytes.fromhex(expected):
                return f"sent {packet.hex(' ').upper()} and not {expected}"
        peer.close()
        said, complaints = process.communicate(timeout=airs.LIMIT)
        if process.returncode != 0:
            return f"ble serve ended with status {process.returncode}"
        if (problem := check_text(said) or check_text(complaints)) is not None:
            return problem
        if len(complaints.splitlines()) != 3:
            return f"there are not three complaints: {complaints}"
        return None if "subscribes to notifications of 0x0016" in said else "ble serve did not say who subscribed"


def inspect_descriptor(binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path) -> str | None:
    with served(binaries, logs, sockets) as (peer, process):
        command = [str(binaries / "ble"), "inspect", "--bearer", f"fd:{peer.fileno()}", "--json"]
        text = output(command, logs / "inspect.log", pass_fds=[peer.fileno()])
        peer.close()
        if process.wait(timeout=airs.LIMIT) != 0:
            return f"ble serve ended with status {process.returncode}"
    ends: dict[int, int] = {}
    # What cannot be read is not tried, and what belongs to a client is left out.
    expected = [
        [handle, kind, None if kind == "2902" else "" if value == "error 02" else value] for handle, kind, value in SERVED]
    return check_text(text) or difference(rows(json.loads(text), ends), expected)


def refuse_descriptors(binaries: pathlib.Path, logs: pathlib.Path, sockets: pathlib.Path) -> str | None:
    file = sockets / "device.json"
    file.write_text(json.dumps(DOCUMENT), encoding="utf-8")
    with socket.socket() as stream, open("/dev/null", "rb") as null:
        cases = [
            ("fd:999", "is not open"), (f"fd:{stream.fileno()}", "of the wrong type"),
            (f"fd:{null.fileno()}", "not a socket"),
            ("fd:1", "standard stream"), ("fd:", "a bearer is fd:"), ("pipe:3", "a bearer is fd:"),
        ]
        for bearer, words in cases:
            for command in (["inspect"], ["serve", str(file)]):
                done = subprocess.run(
                    [str(binaries / "ble"), *command, "--bearer", bearer], stdin=subprocess.DEVNULL, capture_output=True,
                    text=True, timeout=airs.LIMIT, pass_fds=[stream.fileno(), null.fileno()], check=False)
                if done.returncode != 2 or words not in done.stderr or len(done.stderr.splitlines()) != 1:
                    return f"{bearer}: status {done.returncode}, {done.stderr}"
    return None
