"""Our programs in a hostile environment.

Hosts that never read, faulty radios, a lack of descriptors, and error output that nothing reads.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import airs
import hci
import weather as weather_tools

MEBIBYTE = 1 << 20


@dataclass
class Case:
    """Something a program must withstand.

    The test takes a directory for logs and one for sockets, whose paths must be short. It returns the error, or nothing.
    """

    title: str
    test: Callable[[pathlib.Path, pathlib.Path], str | None]

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Each case ends within the limit, or fails."""
        try:
            with tempfile.TemporaryDirectory(prefix="hostile-") as sockets:
                return self.test(directory, pathlib.Path(sockets))
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
            return f"{type(error).__name__}: {error}"


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Every case there is with these executables."""
    tests = {
        f"a host that sends {name} and never reads cannot make our radio's memory grow":
            functools.partial(radio_is_bounded, packets=packets)
        for name, packets in FLOODS.items()
    } | {
        "our radio survives a shortage of file descriptors": survives_exhaustion,
        "a listening host survives a shortage of file descriptors": server_waits_for_descriptors,
        "our radio ends on SIGTERM, even if nobody reads its errors": ends_unread,
        "in bad weather a card arrives whole, or our central fails": weather,
        "in bad weather ble read, write, inspect, notify and pair recover, and ble serve survives":
            weather_tools.survives,
        "our programs do not mistake their sockets for closed standard streams": begins_closed,
        "our programs disconnect their peers when a signal ends them": disconnects,
    }
    return [Case(title, functools.partial(test, binaries)) for title, test in tests.items()]


# MARK: Memory

# Packets of a link, whose handle is filled in.
FLOODS = {
    "empty data": bytes.fromhex("0200200000") * 1000,
    "data longer than a buffer": (bytes.fromhex("0200202c01") + bytes(300)) * 100,
    "data beyond its buffers": (bytes.fromhex("020020fb00") + bytes(251)) * 100,
    "commands": hci.RESET * 1000,
}


def memory(process: int) -> int:
    """The memory that a process uses, in bytes."""
    for line in pathlib.Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {process} is gone")


@contextlib.contextmanager
def radio(
    binaries: pathlib.Path, directory: pathlib.Path, paths: list[pathlib.Path], *options: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Our radio, during the context."""
    command = [str(binaries / "ble"), "radio", *options] + [f"unix-server:{path}" for path in paths]
    with open(directory / "radio.log", "ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while not all(path.exists() for path in paths):
            if process.poll() is not None:
                raise RuntimeError(f"the radio ended with status {process.returncode}")
            time.sleep(0.02)
        yield process
    finally:
        airs.stop(process)


def with_handle(packets: bytes, handle: int) -> bytes:
    """The packets of a flood, for a link with that handle."""
    if packets[0] != 2:
        return packets
    length = 5 + int.from_bytes(packets[3:5], "little")
    packet = packets[:1] + (handle | int.from_bytes(packets[1:3], "little")).to_bytes(2, "little") + packets[3:length]
    return packet * (len(packets) // length)


def radio_is_bounded(
    binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path, packets: bytes
) -> str | None:
    """Floods the radio for two seconds, and checks its memory during the flood and afterwards."""
    paths = [sockets / name for name in ("first", "second")]
    with radio(binaries, directory, paths) as process:
        first, second, handle = hci.connected_hosts(paths)
        before = memory(process.pid)
        sent = second.flood(with_handle(packets, handle), seconds=2)
        during = memory(process.pid)
        second.close()
        # The next host finds a controller that works.
        next_host = hci.Host(paths[1])
        next_host.command(hci.RESET)
        after = memory(process.pid)
        first.close()
        next_host.close()
    figures = f"{before >> 10} KiB before, {during >> 10} KiB under {sent >> 10} KiB, {after >> 10} KiB afterwards"
    (directory / "figures.log").write_text(figures + "\n", encoding="utf-8")
    if max(during, after) - before > 4 * MEBIBYTE:
        return figures
    return None


# MARK: Weather

def weather(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Cards are sent over radios with faults. Whatever happens, what is printed is the card, or the status is not 0."""
    payload = pathlib.Path(__file__).with_name("card.vcf")
    for seed in (1, 2, 3):
        paths = [sockets / f"{name}{seed}" for name in ("first", "second")]
        with contextlib.ExitStack() as stack:
            air = stack.enter_context(radio(binaries, directory, paths, "--fault", str(seed), "--verbose"))
            log = stack.enter_context(open(directory / "peripheral.log", "ab"))
            peripheral = subprocess.Popen(
                [str(binaries / "peripheral"), "--transport", f"unix-client:{paths[0]}", "--payload", str(payload)],
                stdin=subprocess.DEVNULL, stderr=log)
            stack.callback(airs.stop, peripheral)
            central = subprocess.run(
                [str(binaries / "central"), "--transport", f"unix-client:{paths[1]}", "--timeout", "15"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, timeout=15 + airs.LIMIT, check=False)
            if central.returncode not in (0, 3, 4, 5):
                return f"with seed {seed} the central ended with status {central.returncode}"
            if central.returncode == 0 and central.stdout != payload.read_bytes():
                return f"with seed {seed} the central printed other bytes than were sent: {len(central.stdout)} of them"
            for process, name in (air, "radio"), (peripheral, "peripheral"):
                if process.poll() is not None:
                    return f"with seed {seed} the {name} ended with status {process.returncode}"
    return None


# MARK: Descriptors

def survives_exhaustion(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Removes the radio's descriptors while a host connects, and restores them."""
    paths = [sockets / name for name in ("first", "second")]
    with radio(binaries, directory, paths) as process:
        first = hci.Host(paths[0])
        first.command(hci.RESET)
        limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        second = hci.Host(paths[1])
        wait_for_text(directory / "radio.log", "accept")
        if process.poll() is not None:
            return f"the radio ended with status {process.returncode}"
        first.command(hci.RESET)
        before = cpu_time(process.pid)
        time.sleep(1)
        if cpu_time(process.pid) - before > 0.3:
            return "the radio does nothing but try"
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        second.command(hci.RESET)
        first.close()
        second.close()
    return None


def server_waits_for_descriptors(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """A host that listens for its controller, and cannot accept it at first."""
    path = sockets / "controller"
    command = [str(binaries / "peripheral"), "--transport", f"unix-server:{path}"]
    with open(directory / "peripheral.log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        while not path.exists():
            time.sleep(0.02)
        limits = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (3, limits[1]))
        controller = hci.Host(path)
        wait_for_text(directory / "peripheral.log", "accept")
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, limits)
        # The first command of a host.
        packet = controller.socket.recv(16)
        controller.close()
        return None if packet[:4] == hci.RESET else f"it sent {packet.hex()}"
    finally:
        airs.stop(process)


def wait_for_text(path: pathlib.Path, text: str, seconds: float = airs.LIMIT) -> None:
    """Waits until a log has a text."""
    deadline = time.monotonic() + seconds
    while text not in path.read_text(encoding="utf-8", errors="replace"):
        if time.monotonic() > deadline:
            raise RuntimeError(f"there is no \"{text}\" in {path.name}")
        time.sleep(0.02)


def cpu_time(process: int) -> float:
    """The processor time of a process, in seconds."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# MARK: Signals

CARD = "9D534E8B-2153-4F6D-B2B0-8C68665A7274"


def disconnects(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """A program that a signal ends disconnects its peer, which would otherwise notice only after a timeout."""
    payload = sockets / "payload"
    payload.write_bytes(bytes(MEBIBYTE))
    signals = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    for number in signals:
        for ended in ("central", "ble", "peripheral"):
            name = f"{ended}-{number.name}"
            paths = [sockets / f"{name}-{side}" for side in ("server", "client")]
            logs = [directory / f"{name}-{side}.log" for side in ("server", "client")]
            transports = [f"--transport=unix-client:{path}" for path in paths]
            server = [str(binaries / "peripheral"), transports[0], "--payload", str(payload)]
            client = [str(binaries / "ble"), "notify", "BCS", CARD, transports[1]]
            if ended == "central":
                client = [str(binaries / "central"), transports[1]]
            with contextlib.ExitStack() as stack:
                stack.enter_context(radio(binaries, directory, paths))
                processes = []
                for command, log in ((server, logs[0]), (client, logs[1])):
                    output = stack.enter_context(open(log, "wb"))
                    # Under nohup ours would outlive their terminal.
                    processes.append(subprocess.Popen(
                        ["env", "--default-signal=HUP", *command], stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL, stderr=output))
                    stack.callback(airs.stop, processes[-1])
                wait_for_text(logs[0], "sending")
                first, log = (processes[0], logs[1]) if ended == "peripheral" else (processes[1], logs[0])
                first.send_signal(number)
                if (status := first.wait(timeout=airs.LIMIT)) != 128 + number:
                    return f"{ended} ended with status {status}"
                wait_for_text(log, "the peer ended the connection")
    return None


# MARK: Standard streams

def ends_unread(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """The radio must end on request, although its errors go into a full pipe."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(1 << 12))
    os.set_blocking(writer, True)
    path = sockets / "host"
    process = subprocess.Popen(
        [str(binaries / "ble"), "radio", f"unix-server:{path}"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=writer)
    try:
        while not path.exists():
            time.sleep(0.02)
        for _ in range(3):
            host = hci.Host(path)
            host.command(hci.RESET)
            host.close()
        process.send_signal(signal.SIGTERM)
        status = process.wait(timeout=airs.LIMIT)
    finally:
        airs.stop(process)
        os.close(reader)
        os.close(writer)
    return None if status == 128 + signal.SIGTERM else f"the radio ended with status {status}"


def begins_closed(binaries: pathlib.Path, directory: pathlib.Path, sockets: pathlib.Path) -> str | None:
    """Programs that are started with their standard streams closed: none of them becomes a descriptor of ours."""
    path = sockets / "host"
    serving = {
        "ble": ["radio", f"unix-server:{path}"],
        "peripheral": ["--transport", f"unix-client:{path}", "--btsnoop", str(directory / "capture")],
    }
    with contextlib.ExitStack() as stack:
        for name, arguments in serving.items():
            process = subprocess.Popen(
                ["/bin/sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', str(binaries / name), *arguments])
            stack.callback(airs.stop, process)
            while not (path if name == "ble" else directory / "capture").exists():
                if process.poll() is not None:
                    return f"{name} ended with status {process.returncode}"
                time.sleep(0.02)
            for descriptor in range(3):
                if (target := os.readlink(f"/proc/{process.pid}/fd/{descriptor}")) != "/dev/null":
                    return f"descriptor {descriptor} of {name} is {target}"
    for name, arguments in {"central": ["--transport", "unix-client:nowhere"], "ble": ["adapters"]}.items():
        done = subprocess.run(
            ["/bin/sh", "-c", 'exec "$0" "$@" >&-', str(binaries / name), *arguments],
            stderr=subprocess.PIPE, timeout=airs.LIMIT, check=False)
        if done.returncode != 2 or b"standard output is closed" not in done.stderr:
            return f"{name} ended with status {done.returncode}: {done.stderr.decode()}"
    return None
