"""`ble read`, `write`, `inspect`, `notify`, `pair` and `serve` over radios with faults. Each command must recover in
time.

When run directly, it runs the given seeds and prints the result of each:

    Tests/Interoperation/weather.py --seeds 1-50 --binaries .build/debug
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Scripts" / "python"))

import airs  # noqa: E402

# Those with which the programs used to fail.
SEEDS = (2, 7, 11, 13, 15, 20)
PAIRING_SEEDS = (8, 38, 43)
NAME = "Weather"
DEVICE = {
    "name": NAME,
    "services": [
        {"uuid": "180F", "characteristics": [{"uuid": "2A19", "properties": ["read"], "value": "57"}]},
        {"uuid": "FF00", "characteristics": [
            {"uuid": "FF01", "properties": ["read", "write"], "value": "00"},
            {"uuid": "FF02", "properties": ["notify"], "value": ""}]}],
    "notifications": [{"at": 100 * count, "uuid": "FF02", "value": f"0{count}"} for count in range(1, 6)],
}
# How long each command may take, and how long it may need to end after that, on a machine that has other things to do.
TIMEOUT, GRACE = 60, 60
# What `notify` prints where a link was lost.
GAP = "(values were lost here)\n"
# The commands, and whether what they print is right.
COMMANDS = {
    "read": (["2A19", "FF01", "--format", "hex"], lambda text: text == "2A19  57\nFF01  00\n"),
    "write": (["FF01", "CAFE"], lambda text: text == ""),
    "inspect": (["--json"], lambda text: '"uuid": "FF02"' in text and json.loads(text)["name"] == NAME),
    "notify": (["FF02", "--format", "hex", "--count", "3"], lambda text: text.replace(GAP, "").startswith("01\n")
        and text.replace(GAP, "").count("\n") == 3),
    "pair": (["--accept", "--io", "none", "--read", "2A19"],
             lambda text: "just works, LE Secure Connections" in text and text.endswith("57\n")),
}
# The commands that share a radio and a server. Each radio begins with the faults of its seed.
VALUES = ("read", "write", "inspect", "notify")
PAIRING = ("pair",)
# `ble serve` takes every pairing, also of a device that has lost its link before it had stored the bond.
SERVER_OPTIONS = {PAIRING: ["--pair", "--accept", "--io", "none", "--replace-bonds"]}


@dataclass
class Outcome:
    """The outcome of one command."""

    seed: int
    command: str
    status: int | None
    seconds: float
    errors: str
    problem: str | None = None

    def __str__(self) -> str:
        what = self.problem or "ok"
        said = " | ".join(self.errors.strip().splitlines())
        return f"seed {self.seed:2}  {self.command:8} {self.seconds:5.1f} s  {what}  {said}"


def runs(binaries: pathlib.Path, seed: int, directory: pathlib.Path, commands: tuple[str, ...]) -> list[Outcome]:
    """Commands over the radio of one seed, one after the other, with one server."""
    with tempfile.TemporaryDirectory(prefix="weather-") as name, contextlib.ExitStack() as stack:
        sockets = [pathlib.Path(name) / end for end in ("near", "far")]
        document = pathlib.Path(name) / "device.json"
        document.write_text(json.dumps(DEVICE), encoding="utf-8")

        def log_of(what: str) -> pathlib.Path:
            return directory / f"{what}-{seed}-{commands[0]}.log"

        def start(what: str, *arguments: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context(open(log_of(what), "wb"))
            process = subprocess.Popen(
                [str(binaries / "ble"), *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            stack.callback(airs.stop, process)
            return process

        start("radio", "radio", "--fault", str(seed), "--verbose", *(f"unix-server:{path}" for path in sockets))
        while not all(path.exists() for path in sockets):
            time.sleep(0.02)
        server = start(
            "serve", "serve", str(document), *SERVER_OPTIONS.get(commands, []), "--transport",
            f"unix-client:{sockets[0]}")
        outcomes = []
        for command in commands:
            arguments, is_right = COMMANDS[command]
            begin = time.monotonic()
            ours = [str(binaries / "ble"), command, NAME, *arguments, "--timeout", str(TIMEOUT), "--transport",
                    f"unix-client:{sockets[1]}", "--bonds", str(pathlib.Path(name) / "bonds")]
            outcome = Outcome(seed, command, None, 0, "")
            outcomes.append(outcome)
            try:
                done = subprocess.run(
                    ours, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT + GRACE,
                    check=False)
            except subprocess.TimeoutExpired:
                outcome.problem = f"not done in {TIMEOUT + GRACE} s"
                continue
            finally:
                outcome.seconds = time.monotonic() - begin
            outcome.status, outcome.errors = done.returncode, done.stderr
            if done.returncode != 0:
                outcome.problem = f"status {done.returncode}"
            elif not is_right(done.stdout):
                outcome.problem = f"printed {done.stdout[:200]!r}"
        status = server.poll()
        log = log_of("serve").read_text(encoding="utf-8", errors="replace")
        errors = "\n".join(line for line in log.splitlines() if "trying again" in line or line.startswith("ble:"))
        outcomes.append(
            Outcome(seed, "serve", status, 0, errors, None if status is None else f"ended with status {status}"))
        return outcomes


def over(
    binaries: pathlib.Path, runs_of: list[tuple[int, tuple[str, ...]]], directory: pathlib.Path, jobs: int = 6
) -> list[Outcome]:
    """The outcomes of commands over the radios of seeds. The programs mostly wait, so several run at once."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda run: runs(binaries, run[0], directory, run[1]), runs_of)
        return [each for outcomes in found for each in outcomes]


def survives(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Runs the seeds of continuous integration. Returns the problems, or None."""
    outcomes = over(
        binaries, [(seed, VALUES) for seed in SEEDS] + [(seed, PAIRING) for seed in PAIRING_SEEDS], directory)
    (directory / "outcomes.log").write_text("".join(f"{each}\n" for each in outcomes), encoding="utf-8")
    problems = [str(each) for each in outcomes if each.problem]
    return "; ".join(problems) if problems else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default=",".join(map(str, SEEDS)), metavar="LIST", help="such as 1-50 or 2,7,11")
    parser.add_argument("--binaries", type=pathlib.Path, default=HERE.parent.parent / ".build" / "debug")
    parser.add_argument("--jobs", type=int, default=6, help="how many seeds run at once")
    arguments = parser.parse_args()
    seeds: list[int] = []
    for part in arguments.seeds.split(","):
        first, _, last = part.partition("-")
        seeds += range(int(first), int(last or first) + 1)
    with tempfile.TemporaryDirectory(prefix="weather-logs-") as directory:
        outcomes = over(
            arguments.binaries.resolve(), [(seed, commands) for seed in seeds for commands in (VALUES, PAIRING)],
            pathlib.Path(directory), arguments.jobs)
    for each in outcomes:
        print(each)
    for command in [*COMMANDS, "serve"]:
        found = [each for each in outcomes if each.command == command]
        slowest = max(each.seconds for each in found)
        print(f"{command}: {sum(each.problem is None for each in found)} of {len(found)}, slowest {slowest:.1f} s")
    return 1 if any(each.problem for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
