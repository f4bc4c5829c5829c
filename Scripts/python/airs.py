"""Virtual radios to test over: each is a process that offers two controllers, one per end.

Every air is used for one pairing and then discarded, so no controller keeps state from an earlier pairing.
"""

from __future__ import annotations

import contextlib
import importlib.util
import pathlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass


# The time limit for a step that takes a moment on an idle machine. Only a program that hangs takes longer.
LIMIT = 60.0


@dataclass
class Air:
    """A running virtual radio: the names of the transports that lead to its two controllers."""

    name: str
    transports: tuple[str, str]


# The ports that were returned. A server opens its port later, and meanwhile other threads may search for free ports.
given_ports: set[int] = set()
giving = threading.Lock()


def free_ports(count: int) -> list[int]:
    """Free ports, none of which was returned before."""
    ports: list[int] = []
    with giving, contextlib.ExitStack() as stack:
        while len(ports) < count:
            # Held until all are found.
            held = stack.enter_context(socket.socket())
            held.bind(("127.0.0.1", 0))
            port = held.getsockname()[1]
            if port not in given_ports:
                given_ports.add(port)
                ports.append(port)
    return ports


def is_listening(port: int) -> bool:
    """Whether a process listens on a port. Asks the kernel, because a test connection would count as a host."""
    listening, wanted = "0A", f"{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(FileNotFoundError), open(table, encoding="ascii") as lines:
            for line in lines:
                fields = line.split()
                if fields[3] == listening and fields[1].rpartition(":")[2] == wanted:
                    return True
    return False


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends a child process, by force if it does not end on request."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for_phrase(log: pathlib.Path, phrase: str, deadline: float, start: int = 0) -> int:
    """Waits until a program has written a phrase to its log, after the first `start` bytes. Returns where it ends."""
    encoded = phrase.encode()
    while (found := log.read_bytes().find(encoded, start)) < 0:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{log.stem} did not say “{phrase}”")
        time.sleep(0.02)
    return found + len(encoded)


@contextlib.contextmanager
def ready_process(command: list[str], is_ready: Callable[[], bool], log: pathlib.Path) -> Iterator[None]:
    """Runs a command during the context, which begins when the command is ready."""
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
    try:
        deadline = time.monotonic() + LIMIT
        while not is_ready():
            if process.poll() is not None:
                raise RuntimeError(f"{command[0]} ended with status {process.returncode}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} was not ready in time")
            time.sleep(0.05)
        yield
    finally:
        stop(process)


def listening_process(
    command: list[str], ports: list[int], log: pathlib.Path
) -> contextlib.AbstractContextManager[None]:
    """Runs a command during the context, which begins when all its ports are open."""
    return ready_process(command, lambda: all(is_listening(port) for port in ports), log)


@contextlib.contextmanager
def two_servers(name: str, command: list[str], log: pathlib.Path) -> Iterator[Air]:
    """An air whose command takes one server transport for each of its controllers."""
    ports = free_ports(2)
    servers = [f"tcp-server:127.0.0.1:{port}" for port in ports]
    with listening_process(command + servers, ports, log):
        first, second = (f"tcp-client:127.0.0.1:{port}" for port in ports)
        yield Air(name, (first, second))


def bumble_controllers(log: pathlib.Path) -> contextlib.AbstractContextManager[Air]:
    """Bumble's own controllers. Exactly two: a third would receive packets for others."""
    return two_servers("Bumble's controllers", [sys.executable, "-m", "bumble.apps.controllers"], log)


def our_radio(binaries: pathlib.Path, log: pathlib.Path) -> contextlib.AbstractContextManager[Air]:
    """Our own virtual radio, as it is by default: with extended advertising."""
    return two_servers("our radio", [str(binaries / "ble"), "radio"], log)


def our_legacy_radio(binaries: pathlib.Path, log: pathlib.Path) -> contextlib.AbstractContextManager[Air]:
    """Our own virtual radio, without extended advertising."""
    return two_servers("our legacy radio", [str(binaries / "ble"), "radio", "--no-extended"], log)


@contextlib.contextmanager
def our_lines(binaries: pathlib.Path, log: pathlib.Path) -> Iterator[Air]:
    """Our own virtual radio without extended advertising, behind two serial lines, which are pseudo-terminals."""
    lines = [log.with_name(f"{name}.uart") for name in ("first", "second")]
    command = [str(binaries / "ble"), "radio", "--no-extended"] + [f"pty:{line}" for line in lines]
    with ready_process(command, lambda: all(line.exists() for line in lines), log):
        first, second = (f"serial:{line}" for line in lines)
        yield Air("our radio's lines", (first, second))


def rootcanal_binary() -> str | None:
    """The path of RootCanal, if its package is installed and has a binary for this machine."""
    if importlib.util.find_spec("rootcanal") is None:
        return None
    from rootcanal.binaries import get_package_binary_resource_path

    path = get_package_binary_resource_path("rootcanal")
    return path if pathlib.Path(path).exists() else None


@contextlib.contextmanager
def rootcanal(log: pathlib.Path) -> Iterator[Air]:
    """RootCanal, Android's virtual controller. Each connection to its single port gets its own controller."""
    binary = rootcanal_binary()
    if binary is None:
        raise RuntimeError("RootCanal is not available for this machine")
    ports = free_ports(4)
    flags = ["-hci_port", "-link_port", "-link_ble_port", "-test_port"]
    command = [binary] + [f"{flag}={port}" for flag, port in zip(flags, ports, strict=True)]
    with listening_process(command, ports, log):
        transport = f"tcp-client:127.0.0.1:{ports[0]}"
        yield Air("RootCanal", (transport, transport))


AirFactory = Callable[[pathlib.Path], contextlib.AbstractContextManager[Air]]
