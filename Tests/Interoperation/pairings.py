"""Runs each pairing of a central with a peripheral over each air, our programs in a hostile environment (`hostile.py`),
security (`security.py`), the commands of a client (`client.py`), devices that are inspected, served and recorded
(`devices.py`), advertising (`advertising.py`), and channels (`channels.py`).

Prints a line for each.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import functools
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "Scripts" / "python"))

import advertising  # noqa: E402
import airs  # noqa: E402
import channels  # noqa: E402
import client  # noqa: E402
import devices  # noqa: E402
import hostile  # noqa: E402
import security  # noqa: E402

PAYLOAD = HERE / "card.vcf"
EXECUTABLES = ["ble", "central", "peripheral"]
# The air that not every machine has.
ROOTCANAL = "RootCanal"


@dataclass
class End:
    """One end of a pairing: its name, and the command that runs it on a transport, in a directory."""

    name: str
    command: Callable[[str, pathlib.Path], list[str]]


@dataclass
class Failure:
    """How a central ends that does not receive its card: this status, these words, and no standard output."""

    status: int
    words: str


@dataclass
class Pairing:
    """A central and a peripheral that must interoperate over an air."""

    central: End
    peripheral: End
    air_name: str
    air: airs.AirFactory
    failure: Failure | None = None

    @property
    def title(self) -> str:
        return f"{self.central.name} with {self.peripheral.name} over {self.air_name}"

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        return run_pairing(self, directory, limit)


def bumble_central() -> End:
    def command(transport: str, directory: pathlib.Path) -> list[str]:
        capture = str(directory / "central.btsnoop")
        return [sys.executable, str(HERE / "bumble_central.py"), transport, "--btsnoop", capture]

    return End("Bumble's central", command)


def bumble_peripheral() -> End:
    def command(transport: str, directory: pathlib.Path) -> list[str]:
        capture = str(directory / "peripheral.btsnoop")
        return [sys.executable, str(HERE / "bumble_peripheral.py"), transport, "--payload", str(PAYLOAD), "--once",
                "--btsnoop", capture]

    return End("Bumble's peripheral", command)


def faulty_peripheral(fault: str) -> End:
    def command(transport: str, directory: pathlib.Path) -> list[str]:
        capture = str(directory / "peripheral.btsnoop")
        return [sys.executable, str(HERE / "faulty_peripheral.py"), transport, "--fault", fault, "--payload",
                str(PAYLOAD), "--btsnoop", capture]

    return End(f"a faulty peripheral ({fault})", command)


def our_central(binaries: pathlib.Path, *options: str) -> End:
    def command(transport: str, directory: pathlib.Path) -> list[str]:
        capture = str(directory / "central.btsnoop")
        return [str(binaries / "central"), "--transport", transport, "--timeout", "20", "--btsnoop", capture, *options]

    return End("our central", command)


def our_peripheral(binaries: pathlib.Path) -> End:
    def command(transport: str, directory: pathlib.Path) -> list[str]:
        capture = str(directory / "peripheral.btsnoop")
        return [str(binaries / "peripheral"), "--transport", transport, "--payload", str(PAYLOAD), "--once",
                "--btsnoop", capture]

    return End("our peripheral", command)


def all_pairings(binaries: pathlib.Path | None) -> list[Pairing]:
    """All pairings that are possible with these executables; without any, those of Bumble with itself."""
    over: list[tuple[str, airs.AirFactory]] = [
        ("Bumble's controllers", airs.bumble_controllers), (ROOTCANAL, airs.rootcanal)]
    ends = [(bumble_central(), bumble_peripheral())]
    if binaries is not None:
        over.append(("our radio", functools.partial(airs.our_radio, binaries)))
        over.append(("serial lines to our radio", functools.partial(airs.our_lines, binaries)))
        ends = [
            (our_central(binaries), bumble_peripheral()),
            (bumble_central(), our_peripheral(binaries)),
            (our_central(binaries), our_peripheral(binaries)),
        ]
    pairings = [Pairing(central, peripheral, name, air) for name, air in over for central, peripheral in ends]
    return pairings + ([] if binaries is None else faulty_pairings(binaries))


def faulty_pairings(binaries: pathlib.Path) -> list[Pairing]:
    """The errors of our central for peripherals that misbehave after 40 octets."""
    incomplete = "the card is incomplete, only 40 octets were received: "
    lost = Failure(4, incomplete + "part of the peer's data was lost")
    failures: dict[str, tuple[Failure, list[str]]] = {
        "Interrupted": (lost, []), "Overlong": (lost, []), "AboveMTU": (lost, []),
        "Stalled": (Failure(4, incomplete + "no more data arrived for 10.0 seconds"), []),
        "Empty": (Failure(4, incomplete + "no more data arrived for 10.0 seconds"), []),
        "Endless": (Failure(4, "it was still incomplete after 3.0 seconds"), ["--card-timeout", "3"]),
        "Silent": (Failure(4, "was connected but did not answer"), ["--timeout", "8"]),
        "Cardless": (Failure(4, "has no card: it lacks 9D534E8B-2153-4F6D-B2B0-8C68665A7274"), []),
    }
    return [
        Pairing(
            our_central(binaries, *options), faulty_peripheral(fault), "our radio",
            functools.partial(airs.our_radio, binaries), failure)
        for fault, (failure, options) in failures.items()]


def run_pairing(pairing: Pairing, directory: pathlib.Path, limit: float) -> str | None:
    """Runs one pairing. Returns the error, or nothing."""
    deadline = time.monotonic() + limit

    def remaining() -> float:
        return max(deadline - time.monotonic(), 0.1)

    received = directory / "received"
    with contextlib.ExitStack() as stack:
        try:
            air = stack.enter_context(pairing.air(directory / "air.log"))
        except (OSError, RuntimeError) as error:
            return str(error)

        def start(end: End, transport: str, stdout: pathlib.Path, stderr: pathlib.Path) -> subprocess.Popen[bytes]:
            with open(stdout, "wb") as output, open(stderr, "wb") as log:
                child = subprocess.Popen(
                    end.command(transport, directory), stdin=subprocess.DEVNULL, stdout=output, stderr=log)
            stack.callback(airs.stop, child)
            return child

        try:
            peripheral = start(
                pairing.peripheral, air.transports[0], directory / "peripheral.out", directory / "peripheral.log")
            if pairing.failure is not None:
                # Such a central may wait only briefly for a device.
                airs.wait_for_phrase(directory / "peripheral.log", "advertising", deadline)
            central = start(pairing.central, air.transports[1], received, directory / "central.log")
            if pairing.failure is not None:
                return check_failure(pairing.failure, central.wait(timeout=remaining()), directory)
            if (status := central.wait(timeout=remaining())) != 0:
                return f"central ended with status {status}"
            if received.read_bytes() != PAYLOAD.read_bytes():
                return f"central printed other bytes than were sent: {received.stat().st_size} of them"
            if (status := peripheral.wait(timeout=remaining())) != 0:
                return f"peripheral ended with status {status}"
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError) as error:
            return str(error)
    return None


def check_failure(failure: Failure, status: int, directory: pathlib.Path) -> str | None:
    """Checks that a central has ended as expected. Returns the error, or nothing."""
    if status != failure.status:
        return f"central ended with status {status} and not {failure.status}"
    if (printed := (directory / "received").stat().st_size) != 0:
        return f"central printed {printed} bytes of a card that is not complete"
    if failure.words not in (directory / "central.log").read_text(encoding="utf-8"):
        return f"central did not say “{failure.words}”"
    return None


def print_ends_of_logs(directory: pathlib.Path, lines: int = 8) -> None:
    """The last lines of the logs, for when the logs themselves are not available."""
    for log in sorted(directory.glob("*.log")):
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]:
            print(f"    {log.stem}: {line}", flush=True)


def expression(text: str) -> re.Pattern[str]:
    """A regular expression among the arguments."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is not a regular expression: {error}") from error


Case = Pairing | hostile.Case | security.Case | client.Case | advertising.Case | channels.Case


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--binaries", type=pathlib.Path, default=ROOT / ".build" / "debug",
                       help="where ble, central and peripheral are (default: .build/debug)")
    which.add_argument("--bumble-only", action="store_true",
                       help="pair Bumble with itself, to try this test rather than our executables")
    parser.add_argument("--filter", action="append", type=expression, metavar="REGEX",
                        help="only the pairings whose title matches; may be given again")
    parser.add_argument("--list", action="store_true", help="print the titles and run nothing")
    parser.add_argument("--limit", type=float, default=120, metavar="SECONDS", help="time for each pairing")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="how many pairings run at once")
    parser.add_argument("--logs", type=pathlib.Path, help="directory for the logs and captures of every pairing")
    arguments = parser.parse_args()

    # So that the children end with this process, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    binaries = None if arguments.bumble_only else arguments.binaries.resolve()
    everything: list[Case] = list(all_pairings(binaries))
    if binaries is not None:
        everything += [
            *hostile.all_cases(binaries), *security.all_cases(binaries), *client.all_cases(binaries),
            *devices.all_cases(binaries), *advertising.all_cases(binaries), *channels.all_cases(binaries)]
    pairings = [
        pairing for pairing in everything
        if not arguments.filter or any(pattern.search(pairing.title) for pattern in arguments.filter)]
    if arguments.list:
        print("".join(f"{pairing.title}\n" for pairing in pairings), end="")
        return 0
    if not pairings:
        parser.error("no pairing matches")
    if binaries is not None:
        for name in EXECUTABLES:
            if not (binaries / name).exists():
                parser.error(f"there is no {binaries / name}: run swift build")
    if airs.rootcanal_binary() is None:
        print("RootCanal: skipped, there is none for this machine")
        pairings = [
            pairing for pairing in pairings if isinstance(pairing, hostile.Case) or pairing.air_name != ROOTCANAL]

    logs = arguments.logs or pathlib.Path(tempfile.mkdtemp(prefix="interoperation-"))

    def run(pairing: Case) -> tuple[Case, pathlib.Path, str | None]:
        directory = logs / pairing.title.replace("'", "").replace(" ", "-")
        directory.mkdir(parents=True, exist_ok=True)
        try:
            return pairing, directory, pairing.run(directory, arguments.limit)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            return pairing, directory, f"{type(error).__name__}: {error}"

    width = max((len(pairing.title) for pairing in pairings), default=0)
    failures: list[str] = []
    # They mostly wait, for timers of other stacks and for Python to start.
    pool = concurrent.futures.ThreadPoolExecutor(arguments.jobs)
    try:
        for pairing, directory, problem in pool.map(run, pairings):
            if problem is None:
                print(f"{pairing.title:{width}}  ok", flush=True)
                if arguments.logs is None:
                    shutil.rmtree(directory)
            else:
                failures.append(f"{pairing.title}: {problem}")
                print(f"{pairing.title:{width}}  FAILED: {problem}; logs in {directory}", flush=True)
                print_ends_of_logs(directory)
    finally:
        # At a signal, those that have begun come to their end.
        pool.shutdown(cancel_futures=True)
    if arguments.logs is None and not failures:
        shutil.rmtree(logs)
    # Hundreds of lines may follow a failure, so that it is reported again at the end.
    if failures:
        print("\nFailures:", *failures, sep="\n", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
