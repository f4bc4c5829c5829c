"""`ble decode` against tshark, packet by packet; see `run`."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from decoded import decode
from dissected import dissect
from fields import EXCEPTIONS, FIELDS, Dissection

ROOT = Path(__file__).resolve().parent.parent.parent
# Captures with intentionally malformed packets, by their path in Fixtures.
MALFORMED: set[str] = set()
# The forms of a capture, by Wireshark's names, that are to read like btsnoop.
FORMATS = ["pcap", "nsecpcap", "pcapng"]


@dataclass
class Report:
    """The result of a comparison."""

    differences: list[str] = field(default_factory=list)
    # How many times each field was compared, if at least one side had it.
    compared: Counter[str] = field(default_factory=Counter)
    # How often each exception was needed.
    excepted: Counter[str] = field(default_factory=Counter)
    packets: int = 0

    def __iadd__(self, other: "Report") -> "Report":
        self.differences += other.differences
        self.compared += other.compared
        self.excepted += other.excepted
        self.packets += other.packets
        return self


def compare(name: str, ours: Dissection, theirs: Dissection) -> Report:
    """Compares the results of the two sides for one capture, field by field."""
    report = Report(packets=len(theirs.packets), excepted=Counter(theirs.needed))
    if len(ours.packets) != len(theirs.packets):
        report.differences.append(f"{name}: {len(ours.packets)} packets, tshark {len(theirs.packets)}")
    for number, (our, their) in enumerate(zip(ours.packets, theirs.packets), 1):
        for unknown in (our.keys() | their.keys()) - set(FIELDS):
            report.differences.append(f"{name} packet {number}: {unknown} is none of the fields")
        for key in FIELDS:
            if key not in our and key not in their:
                continue
            if exception := theirs.excepted.get(number, {}).get(key):
                report.excepted[exception] += 1
                continue
            report.compared[key] += 1
            if our.get(key) != their.get(key):
                report.differences.append(
                    f"{name} packet {number}: {key} is {text(our.get(key))}, tshark {text(their.get(key))}")
            elif key == "malformed" and their[key] and name not in MALFORMED:
                report.differences.append(f"{name} packet {number}: both say that it is malformed")
    return report


def gaps(report: Report) -> list[str]:
    """What a run over all fixtures should have covered, but has not."""
    return [f"{name} was never compared" for name in FIELDS if not report.compared[name]] + [
        f"the exception '{name}' was not needed: take it out" for name in EXCEPTIONS if not report.excepted[name]]


def text(value) -> str:
    """A value as a difference shows it: numbers also as the specification writes them."""
    match value:
        case None:
            return "missing"
        case int():
            return f"{value} (0x{value:X})"
        case list():
            return "[" + ", ".join(map(text, value)) + "]"
    return str(value)


def check(ble: Path, capture: Path) -> Report:
    """Compares the results of both for one capture."""
    fixtures = ROOT / "Fixtures"
    name = str(capture.relative_to(fixtures) if capture.is_relative_to(fixtures) else capture)
    report = compare(name, decode(ble, capture), dissect(capture))
    report.differences += converted(ble, capture, name)
    return report


def converted(ble: Path, capture: Path, name: str) -> list[str]:
    """The formats into which Wireshark's editcap turns a capture, and that `ble decode` does not read as the same."""

    def shown(file: Path) -> bytes:
        return subprocess.run([ble, "decode", file], check=True, capture_output=True).stdout

    with tempfile.TemporaryDirectory() as directory:
        other = Path(directory) / "capture"
        different = []
        for form in FORMATS:
            subprocess.run(["editcap", "-F", form, capture, other], check=True, stdout=subprocess.DEVNULL)
            if shown(other) != shown(capture):
                different.append(f"{name}: as {form} it reads differently")
        return different


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares `ble decode` with tshark, packet by packet.")
    parser.add_argument("--binaries", type=Path, default=ROOT / ".build/debug", help="the directory `ble` is in")
    parser.add_argument("captures", nargs="*", type=Path, help="instead of all fixtures")
    arguments = parser.parse_args()
    ble = arguments.binaries / "ble"
    if not ble.exists():
        parser.error(f"there is no {ble}: run swift build, or say --binaries")
    if not shutil.which("tshark"):
        parser.error("there is no tshark: run Scripts/setup --tshark")

    captures = [path.resolve() for path in arguments.captures] or sorted((ROOT / "Fixtures").glob("*/*.btsnoop"))
    report = Report()
    with ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for part in pool.map(partial(check, ble), captures):
            report += part
    for difference in report.differences:
        print(difference)
    missing = [] if arguments.captures else gaps(report)
    for gap in missing:
        print(gap)
    print(f"{len(captures)} captures, {report.packets} packets, {len(report.differences)} differences")
    for name in FIELDS:
        print(f"  {report.compared[name]:6} {name}")
    for name, count in report.excepted.items():
        print(f"  {count:6} exceptions: {name}, as {EXCEPTIONS[name]}")
    return 1 if report.differences or missing or not captures else 0


if __name__ == "__main__":
    sys.exit(main())
