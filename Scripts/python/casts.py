"""Records terminals as animated SVG. See Scripts/casts."""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import snippets
from snippet_runs import Failed, Process

ROOT = Path(__file__).resolve().parents[2]
CASTS = ROOT / "Documentation/Casts"
TEMPLATE = Path(__file__).with_name("cast_template.svg")
#: How long a program may take, in seconds.
PATIENCE = 600
#: Pauses are cut to this length, in seconds.
LONGEST_PAUSE = 0.8
#: How long the last frame stays, in milliseconds.
LAST_FRAME = 6000
#: Frames that follow each other faster are one frame, in milliseconds.
SHORTEST_FRAME = 300
#: The sequence with which a program leaves the alternate screen. The cast ends there.
LEAVE = "\x1b[?1049l"
#: A larger picture slows the README down.
LARGEST = 100_000


@dataclass
class Size:
    columns: int
    rows: int


def record(command: str, size: Size, ends: str, cwd: Path, seconds: float = 1, **environment: str) -> list[str]:
    """The lines of a recording of a command, from its start until some time after `ends` has appeared."""
    with tempfile.TemporaryDirectory() as directory:
        cast = Path(directory) / "cast"
        settings = {"TERM": "xterm-256color", "LANG": "C.UTF-8", "ASCIINEMA_CONFIG_HOME": directory}
        recorder = Process(
            "asciinema", "rec", "--quiet", "--overwrite", "--cols", str(size.columns), "--rows", str(size.rows),
            "--command", command, cast, cwd=cwd, **settings | environment)
        try:
            # Without a controlling terminal, asciinema shows nothing, but writes each line at once.
            end = time.monotonic() + PATIENCE
            while not re.search(ends, text := shown(cast)):
                if time.monotonic() > end:
                    raise Failed(f"{command} does not show {ends!r}. It shows:\n{text}")
                time.sleep(0.2)
            # The recording continues, so that the last screen is complete.
            time.sleep(seconds)
        finally:
            recorder.stop()
        return cast.read_text().splitlines()


def shown(cast: Path) -> str:
    """What a recording shows so far, without control sequences."""
    lines = cast.read_text().splitlines()[1:] if cast.exists() else []
    text = "".join(json.loads(line)[2] for line in lines if line.endswith("]"))
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|[()].)", "", text)


def draw(recording: list[str], size: Size, path: Path) -> None:
    """Draws a recording with its pauses cut."""
    header = {"version": 2, "width": size.columns, "height": size.rows}
    lines, now, before = [json.dumps(header)], 0.0, 0.0
    for line in recording[1:]:
        at, kind, text = json.loads(line)
        text, left, _ = text.partition(LEAVE)
        now += min(at - before, LONGEST_PAUSE)
        before = at
        if kind == "o":
            lines.append(json.dumps([round(now, 3), kind, text]))
        if left:
            break
    with tempfile.TemporaryDirectory() as directory:
        cast = Path(directory) / "cast"
        cast.write_text("\n".join(lines) + "\n")
        subprocess.run(
            ["termtosvg", "render", cast, path, "--template", TEMPLATE, "--loop-delay", str(LAST_FRAME),
             "--min-frame-duration", str(SHORTEST_FRAME)],
            check=True, stdout=subprocess.DEVNULL)
    octets = path.stat().st_size
    if octets > LARGEST:
        raise Failed(f"{path.name} has {octets} octets, of which {LARGEST} are allowed")
    print(f"{path.relative_to(ROOT)}: {octets} octets")


# MARK: ble scan

#: A device for each controller: what advertises there.
DEVICES = [
    "beacon bthome temperature=21.5 humidity=48.2 --name Cellar",
    "serve heart.json",
    "beacon ibeacon FB0B57A2-8228-44CD-913A-94A122BA1206 1 2",
    "advertise --name Bike --service 1816 --extended",
    "beacon eddystone-url https://swift.org",
    "serve battery.json",
]
DOCUMENTS = {
    "heart.json": {"name": "Heart", "services": [
        {"uuid": "180D", "characteristics": [{"uuid": "2A37", "properties": ["notify"], "value": "0048"}]}]},
    "battery.json": {"name": "Thermometer", "services": [
        {"uuid": "1809", "characteristics": [{"uuid": "2A1C", "properties": ["indicate"], "value": "0000000000"}]}]},
}  # fmt: skip


def scan(arguments: argparse.Namespace) -> None:
    size = Size(116, 10)
    ble = arguments.binaries / "ble"
    processes = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        for name, document in DOCUMENTS.items():
            (directory / name).write_text(json.dumps(document))
        environment = {"XDG_STATE_HOME": temporary, "HOME": temporary, "PATH": f"{ble.parent}:{os.environ['PATH']}"}
        air = [f"air{index}" for index in range(len(DEVICES))]
        try:
            radio = Process(
                ble, "radio", "unix-server:scanner", *(f"unix-server:{name}" for name in air), cwd=directory,
                **environment)
            processes.append(radio)
            radio.wait_for(f"unix-server:{air[-1]}")
            # They appear one after another, in the table as well.
            start = " & ".join(
                f"(sleep {index * 0.8 + 1}; exec ble {device} --transport unix:{name} >{name}.log 2>&1)"
                for index, (name, device) in enumerate(zip(air, DEVICES, strict=True)))
            processes.append(Process("bash", "-c", f"{start} & wait", cwd=directory, **environment))
            recording = record(
                f"bash -c {shlex.quote(typed('ble scan') + 'ble scan --transport unix:scanner')}", size,
                "6 devices", directory, 4, **environment)
        finally:
            for process in reversed(processes):
                process.stop()
    draw(recording, size, CASTS / "scan.svg")


# MARK: The README's class

#: The class, the test and its name.
CLASS, TEST, FUNCTION = ("finder", "Finder.swift"), "finder-test", "connects"


def ios(arguments: argparse.Namespace) -> None:
    size, width = Size(118, 33), 48
    package = arguments.keep / "monitor"
    manifest, targets = snippets.snippets()
    place = arguments.keep / "swift-bluetooth-le"
    # In a package that Scripts/readme has made, the other snippets stay.
    wanted = targets if package.exists() else {TEST: targets[TEST]}
    if not place.exists():
        arguments.keep.mkdir(parents=True, exist_ok=True)
        place.symlink_to(ROOT)
    snippets.write(package, snippets.by_path(manifest), wanted)
    snippets.swift(package, "build", "--build-tests")
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        (directory / CLASS[1]).write_text(targets[CLASS[0]].files[CLASS[1]])
        (directory / "left").write_text(f"pygmentize -l swift -f terminal {CLASS[1]}; exec sleep 600\n")
        command = f"swift test --skip-build --filter {FUNCTION}"
        # XCTest has no test here, and reports that.
        (directory / "right").write_text(
            f"sleep 2\n{typed(command)}cd {shlex.quote(str(package))} && {command} --disable-xctest; exec sleep 600\n")
        (directory / "tmux.conf").write_text(
            "set -g status off\nset -g pane-border-style fg=brightblack\nset -g pane-active-border-style fg=brightblack\n")
        server = f"tmux -L casts-{os.getpid()} -f tmux.conf"
        try:
            recording = record(
                f"{server} new-session -x {size.columns} -y {size.rows} 'bash left' \\; "
                f"split-window -h -l {width} 'bash right'", size, "Test run with 1 test .* passed", directory)
        finally:
            subprocess.run(["bash", "-c", f"{server} kill-server"], cwd=directory, check=False, stderr=subprocess.DEVNULL)
    draw(recording, size, CASTS / "ios.svg")


def typed(command: str) -> str:
    """Shell code that shows a prompt and a command, as if somebody typed it."""
    return (
        "printf '\\033[32m$\\033[0m '; sleep 0.5; "
        f"for word in {' '.join(shlex.quote(word) for word in command.split())}; do printf '%s ' \"$word\"; sleep 0.3; done; "
        "printf '\\n'; ")  # fmt: skip


ALL: dict[str, Callable[[argparse.Namespace], None]] = {"ios": ios, "scan": scan}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    CASTS.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or ALL:
        ALL[name](arguments)


if __name__ == "__main__":
    try:
        main()
    except (Failed, snippets.Wrong) as error:
        sys.exit(f"Scripts/casts: {error}")
