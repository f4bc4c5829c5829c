"""Makes the copy of the package with all mutants in it, and builds it."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from catalogue import ROOT, Bug

BUILD = ROOT / ".build-mutants"
COPY = BUILD / "copy"
EXCLUDED = BUILD / "excluded.json"
TARGETS = ["BluetoothHost", "BluetoothUsers", "BluetoothGATT", "BluetoothATT", "BluetoothL2CAP"]
# Stands on all that mutants are made of, and on little else.
CHECKED_TARGET = "BluetoothLE"
ERROR = re.compile(r"^(/.+?\.swift):(\d+):\d+: error: (.*)$", re.MULTILINE)


class BuildError(Exception):
    """A build failure that no mutant caused."""


@dataclass
class Mutant:
    """A mutant that is in the copy."""

    id: int
    key: str
    name: str | None
    kind: str
    file: str
    line: int
    original: str
    replacement: str
    lines: list[int]
    body: list[int]

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def change(self) -> str:
        """In one line."""
        if self.kind == "early return":
            return f"`{self.replacement}` at the beginning"

        def short(text: str) -> str:
            text = " ".join(text.split())
            return text if len(text) <= 70 else text[:67] + "..."

        if self.replacement == "do {}":
            return f"without `{short(self.original)}`"
        return f"`{short(self.original)}` → `{short(self.replacement)}`"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run(command: list[str], **options) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


class Builder:
    """Draws mutants until enough of them compile, and builds the programs that run them."""

    def __init__(self, bugs: list[Bug], seed: int, count: int, jobs: int):
        self.bugs, self.seed, self.count, self.jobs = bugs, seed, count, jobs
        self.excluded: list[str] = json.loads(EXCLUDED.read_text()) if EXCLUDED.exists() else []
        self.candidates: dict[str, int] = {}
        self.tool = BUILD / "tool" / "debug" / "mutate"

    def make(self) -> list[Mutant]:
        """Writes the copy, and repeats that until it compiles."""
        self.build("the mutator", ["--package-path", str(ROOT / "Mutants"), "--scratch-path", str(BUILD / "tool")])
        while True:
            mutants = self.write()
            say(f"Checking that {len(mutants)} mutants compile")
            result = self.swift_build(["--package-path", str(COPY), "--target", CHECKED_TARGET])
            if result.returncode == 0:
                return mutants
            self.exclude(mutants, result.stdout + result.stderr)

    def write(self) -> list[Mutant]:
        plan = {
            "package": str(ROOT),
            "copy": str(COPY),
            "targets": TARGETS,
            "count": self.count,
            "seed": self.seed,
            "named": [
                {"id": number, "name": bug.name, "file": bug.file}
                | {"original": bug.original, "replacement": bug.replacement}
                for number, bug in enumerate(self.bugs, 1)
            ],
            "excluded": self.excluded,
        }
        result = run([str(self.tool)], input=json.dumps(plan))
        if result.returncode != 0:
            raise BuildError(result.stderr.strip())
        manifest = json.loads(result.stdout)
        self.candidates = manifest["candidates"]
        return [Mutant(**{"name": None, **entry}) for entry in manifest["mutants"]]

    def exclude(self, mutants: list[Mutant], output: str) -> None:
        """Removes the mutants whose lines have errors."""
        bad: dict[str, str] = {}
        for path, line, message in ERROR.findall(output):
            in_file = [mutant for mutant in mutants if str(COPY / mutant.file) == path]
            at = int(line)
            hit = [mutant for mutant in in_file if mutant.lines[0] <= at <= mutant.lines[1]]
            # Any mutant in a function can cause an error of the function as a whole.
            body = [mutant for mutant in in_file if mutant.body[0] <= at <= mutant.body[1]]
            hit = hit or [mutant for mutant in body if not mutant.name] or body
            for mutant in hit:
                bad[mutant.key] = message
                if mutant.name:
                    raise BuildError(f"{mutant.name} does not compile: {message}\n  at {path}:{line}")
        if not bad:
            raise BuildError(f"the copy does not compile:\n{output[-4000:]}")
        say(f"{len(bad)} do not compile; others are drawn for them")
        self.excluded += sorted(set(bad) - set(self.excluded))
        EXCLUDED.write_text(json.dumps(self.excluded, indent=1))

    def swift_build(self, arguments: list[str]) -> subprocess.CompletedProcess:
        return run(["swift", "build", "-j", str(self.jobs), *arguments])

    def build(self, what: str, arguments: list[str]) -> None:
        say(f"Building {what}")
        result = self.swift_build(arguments)
        if result.returncode != 0:
            raise BuildError(f"{what} does not build:\n{(result.stdout + result.stderr)[-4000:]}")

    def build_copy(self) -> Path:
        """Builds the simulator and the tests with the mutants. Returns their paths."""
        # Optimized, because the programs run hundreds of times.
        options = ["--package-path", str(COPY), "-c", "release", "-Xswiftc", "-enable-testing"]
        self.build("the simulator and the tests with the mutants in them", [*options, "--build-tests"])
        return Path(run(["swift", "build", *options, "--show-bin-path"]).stdout.strip())
