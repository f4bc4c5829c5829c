"""Our `ble l2cap` and Bumble's host at the two ends of a credit-based channel, in both roles."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import random
import subprocess
import sys
import time
from dataclasses import dataclass

import airs

HERE = pathlib.Path(__file__).resolve().parent
BUMBLE = "F0:0D:00:00:00:01"
# Long enough for credits to run out many times: at one credit of 23 octets at a time, a tenth of it is.
LENGTH, SHORT_LENGTH = 20_000, 2_000
# MTU, MPS and credits.
USUAL, LEAST = (2048, 247, 8), (23, 23, 1)


@dataclass
class Case:
    """Both ends send each other the same amount at the same time. Bumble's end closes the channel."""

    we_listen: bool
    # Bumble's MTU, MPS and credits.
    limits: tuple[int, int, int]
    air_name: str
    air: airs.AirFactory
    binaries: pathlib.Path

    @property
    def title(self) -> str:
        roles = "Bumble's central opens a channel to ours" if self.we_listen else "our central opens a channel to Bumble's"
        return f"{roles}: MTU {self.limits[0]}, MPS {self.limits[1]}, credits {self.limits[2]}, over {self.air_name}"

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        payloads = {}
        for number, end in enumerate(("ours", "theirs")):
            payloads[end] = random.Random(number).randbytes(SHORT_LENGTH if self.limits == LEAST else LENGTH)
            (directory / f"{end}.payload").write_bytes(payloads[end])
        try:
            with self.air(directory / "air.log") as air:
                statuses = self.run_ends(air, directory, time.monotonic() + limit)
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError) as error:
            return str(error)
        if any(statuses):
            return f"ours ended with status {statuses[0]}, Bumble's with {statuses[1]}"
        for end, other in (("ours", "theirs"), ("theirs", "ours")):
            if (directory / f"{end}.out").read_bytes() != payloads[other]:
                return f"{end} received other bytes than were sent"
        return None

    def run_ends(self, air: airs.Air, directory: pathlib.Path, deadline: float) -> list[int]:
        mtu, mps, credits = self.limits
        place = ["--listen", "0x80"] if self.we_listen else [BUMBLE, "0x80", "--timeout", "20"]
        commands = {
            "ours": [str(self.binaries / "ble"), "l2cap", *place, "--keep", "--transport", air.transports[0],
                     "--bonds", str(directory / "bonds"), "--btsnoop", str(directory / "ours.btsnoop")],
            "theirs": [sys.executable, str(HERE / "bumble_channel.py"), air.transports[1],
                       "open" if self.we_listen else "serve", "--payload", str(directory / "theirs.payload"),
                       "--mtu", str(mtu), "--mps", str(mps), "--credits", str(credits)],
        }
        logs = {end: directory / f"{end}.log" for end in commands}
        with contextlib.ExitStack() as stack:
            children = []
            for end, command in commands.items():
                with open(directory / f"{end}.out", "wb") as stdout, open(logs[end], "wb") as log:
                    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, stderr=log)
                stack.callback(airs.stop, child)
                children.append(child)
            # Bumble drops what comes in the moment when it has opened a channel.
            while "open:" not in logs["theirs"].read_text(errors="replace") and children[1].poll() is None:
                if time.monotonic() > deadline:
                    raise subprocess.TimeoutExpired(commands["theirs"], 0)
                time.sleep(0.05)
            # As much as a pipe holds.
            with children[0].stdin as stdin:
                stdin.write((directory / "ours.payload").read_bytes())
            return [child.wait(timeout=max(deadline - time.monotonic(), 0.1)) for child in children]


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Every case there is with these executables."""
    over: list[tuple[str, airs.AirFactory]] = [
        ("our radio", functools.partial(airs.our_radio, binaries)),
        ("Bumble's controllers", airs.bumble_controllers),
        ("RootCanal", airs.rootcanal),
    ]
    cases = [Case(listens, USUAL, name, air, binaries) for name, air in over for listens in (True, False)]
    return cases + [Case(listens, LEAST, *over[0], binaries) for listens in (True, False)]
