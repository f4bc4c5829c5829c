"""Records the captures in Fixtures/, and writes the list of them into Fixtures/README.md."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import importlib.metadata
import importlib.util
import logging
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import airs
import laboratory
from recording import Capture, VirtualTimeLoop, packet_count, seeded
from scenarios import SCENARIOS, Scenario

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXTURES = ROOT / "Fixtures"
# The directories this writes.
STACKS = ("Bumble", "RootCanal", "Ours", "Kernel")
# The recordings of BlueZ, and of BlueZ with our library, in the machine of Scripts/vm.
KERNEL = {
    "bluez-to-bluez": "BlueZ as central and peripheral: discovery, long values, notifications, indications",
    "bluez-to-ours": "The same, with our library as the peripheral, on hci0",
    "ours-to-bluez": "The same, with our library as the central, on hci0; ATT_MTU 65",
}
TWO_ADAPTERS = {
    "two-adapters":
        "Two adapters found, powered, scanning and advertising; a link, a database read, pairing refused",
}
# Pairings of our programs with Bumble's host: the case of Tests/Interoperation/security.py, and what it shows.
PAIRINGS = {
    "our-central-pairs-numeric-comparison": (
        "our central pairs with Bumble's peripheral: numeric comparison, LE Secure Connections",
        "Our central pairs by numeric comparison, LE Secure Connections, and reads an authenticated value"),
    "our-central-pairs-legacy-passkey": (
        "our central pairs with Bumble's peripheral: passkey entry, typed here, legacy pairing",
        "Our central pairs by passkey entry, legacy pairing"),
    "our-peripheral-pairs-secure-passkey": (
        "Bumble's central pairs with our peripheral: passkey entry, typed there, LE Secure Connections",
        "A card refused before pairing, pairing by passkey entry with LE Secure Connections, "
        "then the card handed over by our peripheral, and again on a second link, encrypted with the bond"),
    "our-central-without-the-bond": (
        "our central when the peripheral has lost its bond",
        "The peripheral has lost its bond: encryption fails, and our central ends the link"),
}
INTEROPERATION = ROOT / "Tests" / "Interoperation"
SIZE_LIMIT = 60_000
TIME_LIMIT = 60


async def record(scenario: Scenario, directory: pathlib.Path, open_laboratory: laboratory.Opener) -> None:
    """Records one scenario, from power-on to its end, as either host sees it."""
    clock = asyncio.get_running_loop().time
    central, peripheral = laboratory.capture_paths(directory, scenario.name)
    with Capture(central, clock) as first, Capture(peripheral, clock) as second, seeded(scenario.name):
        async with asyncio.timeout(TIME_LIMIT), open_laboratory((first, second)) as ready:
            await scenario.run(ready)


def record_on_bumble(scenario: Scenario, directory: pathlib.Path) -> None:
    """On Bumble's controllers in virtual time: the same bytes and times in every run."""
    opener = functools.partial(laboratory.on_bumble_controllers, extended=scenario.extended)
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(record(scenario, directory, opener))


def record_on_rootcanal(scenario: Scenario, directory: pathlib.Path) -> None:
    """On RootCanal in real time: the contents are the same each time, but times and order may differ."""
    with tempfile.TemporaryDirectory() as logs, airs.rootcanal(pathlib.Path(logs) / "log") as air:
        asyncio.run(record(scenario, directory, functools.partial(laboratory.on_transports, transports=air.transports)))


def record_ours(binaries: pathlib.Path, directory: pathlib.Path) -> None:
    """Bumble's host with our executables, through the interoperation tests, which capture both sides."""
    with tempfile.TemporaryDirectory() as logs:
        subprocess.run([sys.executable, str(INTEROPERATION / "pairings.py"), "--binaries", str(binaries),
                        "--logs", logs, "--filter", "[a-z] over Bumble's controllers"], check=True)
        for pairing in sorted(pathlib.Path(logs).iterdir()):
            name = pairing.name.removesuffix("-over-Bumbles-controllers").lower()
            for capture in pairing.glob("*.btsnoop"):
                shutil.copy(capture, directory / f"{name}-{capture.name}")


def record_pairings(binaries: pathlib.Path, directory: pathlib.Path) -> None:
    """Bumble's host paired with our programs: the packets of our side."""
    for name, (title, _) in PAIRINGS.items():
        with tempfile.TemporaryDirectory() as logs:
            subprocess.run([sys.executable, str(INTEROPERATION / "pairings.py"), "--binaries", str(binaries),
                            "--logs", logs, "--filter", f"^{re.escape(title)}, over our radio$"], check=True)
            # In a case about a lost bond, the step in which it is lost.
            step = 2 if "lost" in title else 1
            shutil.copy(next(pathlib.Path(logs).glob(f"*/ours-{step}.btsnoop")), directory / f"{name}.btsnoop")


def record_in_machine(names: list[str], directory: pathlib.Path) -> None:
    """BlueZ's host and controllers, and our library on a user channel, as the kernel's monitor sees them."""
    build = ["swift", "build", "--package-path", str(ROOT)]
    subprocess.run([*build, "--quiet", "--product", "kernel-agent"], check=True)
    binaries = subprocess.run([*build, "--show-bin-path"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(
        [ROOT / "Scripts" / "vm", "run", "--results", directory, "--env", f"KERNEL_BINARIES={binaries}",
         sys.executable, ROOT / "Tests" / "Kernel" / "record.py", *names], check=True)


def listing(directories: list[pathlib.Path]) -> str:
    """The table of all captures."""
    summaries = {scenario.name: scenario.summary for scenario in SCENARIOS} | KERNEL | TWO_ADAPTERS
    summaries |= {name: summary for name, (_, summary) in PAIRINGS.items()}
    lines = []
    for directory in directories:
        lines += [f"### {directory.name}", "", "| capture | packets | bytes | shows |", "|---|---|---|---|"]
        for path in sorted(directory.glob("*.btsnoop")):
            scenario = path.stem.removesuffix("-central").removesuffix("-peripheral")
            lines.append(
                f"| `{path.name}` | {packet_count(path)} | {path.stat().st_size} "
                f"| {summaries.get(scenario, 'A card handed over')} |")
        lines.append("")
    return "\n".join(lines)


def update_readme() -> None:
    """Rewrites the text between the markers."""
    path, begin, end = FIXTURES / "README.md", "<!-- captures -->\n", "<!-- end of captures -->\n"
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    directories = [FIXTURES / name for name in sorted(STACKS) if list((FIXTURES / name).glob("*.btsnoop"))]
    versions = [
        f"{name} {importlib.metadata.version(name.lower())}"
        for name in ("Bumble", "RootCanal") if importlib.util.find_spec(name.lower())]
    # The captures contain the versions of the kernel and of BlueZ.
    kernel = b"".join(path.read_bytes() for path in sorted((FIXTURES / "Kernel").glob("*.btsnoop")))
    versions += sorted({text.decode() for text in re.findall(rb"Linux version [0-9]+\.[0-9]+|BlueZ [0-9.]+", kernel)})
    contents = f"Recorded with {', '.join(versions)}.\n\n{listing(directories)}"
    path.write_text(before + begin + contents + end + after, encoding="utf-8")


def check(path: pathlib.Path) -> str | None:
    """The problem of a capture, if any. Uses tshark if it is installed."""
    if packet_count(path) == 0:
        return "is empty"
    if path.stat().st_size > SIZE_LIMIT:
        return f"has {path.stat().st_size} bytes, which is more than {SIZE_LIMIT}"
    if shutil.which("tshark"):
        result = subprocess.run(
            ["tshark", "-r", str(path), "-Y", "_ws.malformed"], capture_output=True, text=True, timeout=TIME_LIMIT)
        if result.stdout:
            return f"has malformed packets:\n{result.stdout}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT",
                        help="only the scenarios whose name contains this text; those in the machine are kernel/…")
    parser.add_argument("--ours", type=pathlib.Path, metavar="DIRECTORY",
                        help="record Bumble with our executables too, which are in this directory")
    arguments = parser.parse_args()

    # Bumble logs the refusals that are recorded on purpose.
    for name in ("bumble.l2cap", "bumble.smp"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    chosen = [scenario for scenario in SCENARIOS if arguments.only in scenario.name]
    with contextlib.ExitStack() as stack:
        # Recorded elsewhere and moved on success, so that a failure leaves the old captures unchanged.
        aside = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for name in STACKS:
            (aside / name).mkdir()
        for scenario in chosen:
            print(f"Bumble: {scenario.name}", flush=True)
            record_on_bumble(scenario, aside / "Bumble")
            if scenario.extended and airs.rootcanal_binary():
                print(f"RootCanal: {scenario.name}", flush=True)
                record_on_rootcanal(scenario, aside / "RootCanal")
        in_machine = [name for name in KERNEL if arguments.only in f"kernel/{name}"]
        if in_machine:
            print(f"Kernel: {', '.join(in_machine)}", flush=True)
            record_in_machine(in_machine, aside / "Kernel")
        if any(arguments.only in f"kernel/{name}" for name in TWO_ADAPTERS):
            subprocess.run([ROOT / "Scripts" / "record-kernel-fixture", aside / "Kernel"], check=True)
        if arguments.ours:
            record_ours(arguments.ours.resolve(), aside / "Ours")
            record_pairings(arguments.ours.resolve(), aside / "Ours")
        problems = [
            f"{path.parent.name}/{path.name} {problem}"
            for path in sorted(aside.glob("*/*.btsnoop")) if (problem := check(path))]
        if problems:
            print("\n".join(problems), file=sys.stderr)
            return 1
        for path in aside.glob("*/*.btsnoop"):
            target = FIXTURES / path.parent.name
            target.mkdir(exist_ok=True)
            shutil.copy(path, target / path.name)
    update_readme()
    return 0


if __name__ == "__main__":
    sys.exit(main())
