"""`ble read`, `write`, `notify` and `bench` with Bumble's host and our own: the runs in `client_runs.py`,
devices with the same name, and the output on a terminal."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import airs
import client_runs
import hostile
from client_runs import ADDRESS, NOT_FOUND, USAGE, Run

HERE = pathlib.Path(__file__).resolve().parent
# What must never reach a terminal: control characters other than the ends of lines, and what turns text around.
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200e\u200f]")


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
                    stack.enter_context(serving(self.peer(air.transports[0]), log, deadline))
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
def serving(command: list[str], log: pathlib.Path, deadline: float) -> Iterator[None]:
    """Runs a peer during the context, which begins when the peer advertises."""
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


# MARK: Names and terminals

def ambiguous(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Two devices have the same name, so the name does not identify a device."""
    paths = [sockets / name for name in ("first", "second", "third")]
    name, ble = "the \u202esame", str(binaries / "ble")
    with contextlib.ExitStack() as stack:
        stack.enter_context(hostile.radio(binaries, directory, paths))
        for path in paths[:2]:
            command = [ble, "bench", "--serve", "--name", name, "--transport", f"unix-client:{path}"]
            stack.enter_context(serving(command, directory / f"{path.name}.log", time.monotonic() + airs.LIMIT))
        done = subprocess.run(
            [ble, "read", name, "2A00", "--transport", f"unix-client:{paths[2]}"], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=airs.LIMIT, check=False)
    wanted = 'several devices are named "the \\u{202E}same": 00:1B:DC:00:00:0'
    if done.returncode != USAGE or wanted not in done.stderr or done.stderr.count("00:1B:DC:00:00:0") != 2:
        return f"it ended with status {done.returncode}: {done.stderr}"
    return None


def shows_waiting(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """A terminal shows what the program is waiting for, in one line that is erased afterwards."""
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
            status = process.wait(timeout=airs.LIMIT)
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

    def faulty(fault: str) -> Callable[[str], list[str]]:
        return lambda transport: [
            sys.executable, str(HERE / "faulty_peripheral.py"), transport, "--fault", fault, "--payload",
            str(client_runs.PAYLOAD)]

    def ours(transport: str) -> list[str]:
        return [str(binaries / "ble"), "bench", "--serve", "--name", "our\x1b[2J", "--transport", transport]

    our_radio = functools.partial(airs.our_radio, binaries)
    over: list[tuple[str, airs.AirFactory]] = [
        ("our radio", our_radio), ("Bumble's controllers", airs.bumble_controllers), ("RootCanal", airs.rootcanal)]
    radio = ("our radio", our_radio)
    runs: list[tuple[str, list[Run], Callable[[str], list[str]]]] = [
        ("ble bench with our own server", client_runs.bench_runs(), ours),
        ("ble read with Bumble's values", client_runs.read_runs(), bumble()),
        ("ble write with Bumble's values", client_runs.write_runs(), bumble()),
        ("ble notify with Bumble's values", client_runs.notify_runs(), bumble()),
    ]
    odd: list[tuple[str, list[Run], Callable[[str], list[str]]]] = [
        ("ble bench with a peer that does not serve it", client_runs.refused_bench_runs(), bumble()),
        ("ble notify when part of a frame is lost", client_runs.lossy_runs(), faulty("Interrupted")),
        ("ble read with a peer that does not answer", client_runs.silent_runs(), faulty("Silent")),
        ("ble notify with a peer that does not answer", client_runs.unanswered_runs(), faulty("Unanswered")),
        ("ble notify when the peer disconnects", client_runs.leaving_runs(), bumble("--leave", "5")),
        ("ble notify --reconnect when the peer disconnects", client_runs.reconnect_runs(), bumble("--leave", "5")),
        ("ble notify --reconnect when the services change", client_runs.changing_runs(), bumble("--change", "5")),
    ]
    return [
        Case("the arguments of ble read, write, notify and bench", binaries, client_runs.argument_runs()),
        hostile.Case("two devices with the name given to ble read", functools.partial(ambiguous, binaries)),
        hostile.Case("ble read shows on a terminal what it is waiting for", functools.partial(shows_waiting, binaries)),
        *[Case(f"{title}, over {name}", binaries, each, peer, name, air)
          for name, air in over for title, each, peer in runs],
        *[Case(title, binaries, each, peer, *radio) for title, each, peer in odd],
    ]
