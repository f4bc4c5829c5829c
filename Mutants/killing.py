"""Runs mutants, and determines what finds them."""

import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

# What a mutant may take, so that one that never stops taking leaves the others theirs.
MEMORY = 6 << 30
# No run is given less time than this, in seconds, however fast it is without a mutant.
PATIENCE = 60
# ... and none less than so many times what it takes without a mutant.
SLOWNESS = 10


@dataclass
class Stage:
    """A command that ends with 0 if it finds nothing."""

    kind: str  # "simulation" or "tests"
    title: str
    command: list[str]
    #: Of a simulation, the worlds.
    seeds: range = range(0)
    #: What it takes without a mutant, in seconds.
    seconds: float = 0

    @property
    def worlds(self) -> int:
        return len(self.seeds)

    @property
    def limit(self) -> float:
        return PATIENCE + SLOWNESS * self.seconds

    def only(self, seed: int) -> "Stage":
        """One of its worlds."""
        return simulated(self.command, range(seed, seed + 1))

    def after(self, seed: int) -> "Stage | None":
        """Its worlds after one of them."""
        rest = range(seed + 1, self.seeds.stop)
        return simulated(self.command, rest, self.seconds) if rest else None


@dataclass
class Outcome:
    """The result of a mutant in a stage."""

    stage: Stage
    #: How it was found; None where it was not.
    found: str | None
    seconds: float
    #: Of a simulation, the world that found it, where it says so.
    world: int | None = None


def simulation(ble: Path, *worlds: int) -> list[Stage]:
    """In growing batches, since most mutants are found by the first; some end where one of these numbers does."""
    ends = sorted({end for end in (200, 1000, 5000, 20000, 100000) if end < max(worlds)} | {*worlds})
    command = [str(ble), "simulate", "--until-failure", "--jobs", "1", "--seeds"]
    return [simulated(command, range(start, end)) for start, end in zip([0] + ends, ends)]


def simulated(command: list[str], seeds: range, seconds: float = 0) -> Stage:
    """The simulation of some worlds, by a command whose last argument is to say which, or says which others."""
    text = f"{seeds.start}..{seeds.stop - 1}"
    command = command[: command.index("--seeds") + 1] + [text]
    return Stage("simulation", f"worlds {text}", command, seeds, seconds)


#: Tests, and the targets whose mutants they may show; none where those of any. Those of a layer come before those of the
#: layers above it, and PackageCopy.swift leaves all others out.
SUITES: list[tuple[str, set[str]]] = [
    ("BluetoothHCITests", {"BluetoothHCI"}),
    ("BluetoothL2CAPTests", {"BluetoothL2CAP"}),
    ("BluetoothATTTests", {"BluetoothATT"}),
    ("BluetoothGATTTests", {"BluetoothATT", "BluetoothGATT"}),
    ("BluetoothHostTests", set()),
    ("FixtureTests", set()),
    ("BluetoothAdapterTests|BluetoothLETests", set()),
]


def tests(bundle: Path) -> list[Stage]:
    """The tests of each layer."""
    command = [str(bundle), "--testing-library", "swift-testing", "--filter"]
    return [Stage("tests", suites, [*command, rf"^({suites})\."]) for suites, _ in SUITES]


def concerns(stage: Stage, file: str) -> bool:
    """Whether a stage may show a mutant in this file."""
    targets = dict(SUITES).get(stage.title)
    return not targets or file.split("/")[1] in targets


class Runner:
    """Runs stages; several threads may use it."""

    def __init__(self):
        self.running: set[int] = set()
        self.lock = threading.Lock()
        self.is_stopped = False

    def run(self, stage: Stage, mutant: int, limit: float | None = None) -> Outcome:
        environment = os.environ | {
            "BLUETOOTH_MUTANT": str(mutant), "NO_COLOR": "1", "SWIFT_BACKTRACE": "enable=no"
        }
        began = time.monotonic()
        # A file, because a mutant may print forever.
        with tempfile.TemporaryFile("w+", errors="replace") as output, tempfile.TemporaryDirectory() as scratch:
            environment["TMPDIR"] = scratch
            process = subprocess.Popen(
                stage.command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                cwd=scratch, start_new_session=True, preexec_fn=bound)
            with self.lock:
                self.running.add(process.pid)
                if self.is_stopped:
                    os.killpg(process.pid, signal.SIGKILL)
            try:
                status = wait(process, stage, output.fileno(), limit)
            finally:
                with self.lock:
                    self.running.discard(process.pid)
            size = output.seek(0, os.SEEK_END)
            output.seek(0)
            text = output.read(1 << 20)
            if size > 1 << 20:
                output.seek(size - (1 << 16))
                text += output.read()
        world = re.search(r"^seed (\d+): ", text, re.MULTILINE) if stage.worlds else None
        return Outcome(
            stage, describe(stage, status, text), time.monotonic() - began,
            world=int(world[1]) if world and status is not None else None)

    def stop(self) -> None:
        """Ends all runs, including those that have not started."""
        with self.lock:
            self.is_stopped = True
            for process in self.running:
                os.killpg(process, signal.SIGKILL)


def wait(process: subprocess.Popen, stage: Stage, output: int, limit: float | None) -> int | None:
    """The status with which it ends, 1 if a test fails, for then it is stopped; None if it takes too long."""
    deadline = None if limit is None else time.monotonic() + limit
    read = 0
    while True:
        try:
            return process.wait(timeout=0.3)
        except subprocess.TimeoutExpired:
            pass
        # The process writes where it is itself, which reading does not move.
        news = os.pread(output, 1 << 20, read) if stage.kind == "tests" else b""
        # The last line may be incomplete.
        read += max(0, len(news) - 100)
        is_late = deadline is not None and time.monotonic() > deadline
        if is_late or b"recorded an issue" in news:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return None if is_late else 1


def bound() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def describe(stage: Stage, status: int | None, text: str) -> str | None:
    """How a run found something, in a few words, or None."""
    if status == 0:
        return None
    if stage.kind == "simulation":
        violation = re.search(r"^seed (\d+: .*)$", text, re.MULTILINE)
        where = f"world {violation[1]}" if violation else stage.title
    else:
        failed = re.search(r"✘ Test (.+?) recorded an issue", text)
        where = failed[1] if failed else stage.title
    if status is None:
        return f"{where}: time limit"
    if status < 0:
        begun = re.findall(r"◇ Test (.+?) started\.", text)
        return f"{where}: {signal.Signals(-status).name}" + (f" after {begun[-1]} began" if begun else "")
    return where if len(where) <= 160 else where[:157] + "..."
