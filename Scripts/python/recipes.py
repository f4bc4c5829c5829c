"""Runs the recipes of Documentation/Recipes.md and the README as printed. See Scripts/recipes."""

import argparse
import contextlib
import os
import re
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from snippet_runs import Failed, Process

ROOT = Path(__file__).resolve().parents[2]
GUIDES = [ROOT / "Documentation/Recipes.md", ROOT / "README.md"]


def recipes() -> dict[str, str]:
    """The blocks of the guides by the names before them."""
    text = "\n".join(guide.read_text() for guide in GUIDES)
    return dict(re.findall(r"^<!-- recipe: (\S+) -->\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


class Kitchen:
    """A directory with two controllers on one air, the programs, and the processes that a recipe starts."""

    def __init__(self, binaries: Path, directory: Path) -> None:
        self.directory = directory
        self.processes: list[Process] = []
        self.environment = {
            "PATH": f"{binaries}:{os.environ['PATH']}", "HOME": str(directory), "XDG_CONFIG_HOME": str(directory),
            "XDG_STATE_HOME": str(directory / "state"), "BLUETOOTH_TRANSPORT": "unix:near",
        }  # fmt: skip
        self.text = recipes()

    def start(self, command: str, **environment: str) -> Process:
        environment = self.environment | environment
        process = Process("bash", "-euo", "pipefail", "-c", command, cwd=self.directory, **environment)
        self.processes.append(process)
        return process

    def recipe(self, name: str) -> Process:
        return self.start(self.text[name])

    @contextlib.contextmanager
    def air(self) -> Iterator[None]:
        radio = self.start("ble radio unix-server:near unix-server:far")
        radio.wait_for("unix-server:far")
        try:
            yield
        finally:
            self.clear()

    def clear(self) -> None:
        for process in reversed(self.processes):
            process.stop()
        self.processes.clear()

    def device(self, command: str) -> Process:
        """A device on the far controller."""
        return self.start(command, BLUETOOTH_TRANSPORT="unix:far")


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def broker(kitchen: Kitchen, topic: str) -> Iterator[Process]:
    """A private broker, which mosquitto's clients find through their default configuration files, and a subscriber."""
    port = free_port()
    for client in ("mosquitto_pub", "mosquitto_sub"):
        (kitchen.directory / client).write_text(f"-h 127.0.0.1\n-p {port}\n")
    (kitchen.directory / "broker.conf").write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    kitchen.start("PATH=$PATH:/usr/sbin; mosquitto -c broker.conf").wait_for("running")
    subscriber = kitchen.start(f"mosquitto_sub -d -v -t '{topic}'")
    subscriber.wait_for("SUBACK")
    yield subscriber


SENSOR = "ble beacon bthome temperature=25.06 humidity=50.55 --name Cellar"


def mqtt(kitchen: Kitchen) -> None:
    with kitchen.air(), broker(kitchen, "bluetooth/#") as subscriber:
        kitchen.device(SENSOR)
        kitchen.recipe("mqtt")
        subscriber.wait_for(r'bluetooth/sightings \{"time":"\d{4}-.*"name":"Cellar"')


def mqtt_values(kitchen: Kitchen) -> None:
    with kitchen.air(), broker(kitchen, "bluetooth/#") as subscriber:
        kitchen.device(SENSOR)
        kitchen.recipe("mqtt-values")
        end = subscriber.wait_for(r"bluetooth/00:1B:DC:\S+/temperature 25\.06")
        subscriber.wait_for(r"bluetooth/00:1B:DC:\S+/humidity 50\.55", end)


HEART = """{"name": "Heart", "services": [{"uuid": "180D", "characteristics": [
    {"uuid": "2A37", "properties": ["notify"], "value": "0048"}]}],
    "notifications": [{"at": 200, "uuid": "2A37", "value": "0048"},
                      {"at": 700, "uuid": "2A37", "value": "0049"},
                      {"at": 1200, "uuid": "2A37", "value": "004A"}]}"""


def record_and_replay(kitchen: Kitchen) -> None:
    (kitchen.directory / "original.json").write_text(HEART)
    with kitchen.air():
        kitchen.device("ble serve original.json").wait_for("advertising|serving|Heart")
        kitchen.recipe("record").wait_for("recorded .* in heart.json")
    replay = kitchen.recipe("replay")
    end = 0
    for beat in ("72", "73", "74"):
        end = replay.wait_for(rf"\b{beat}\b", end)
    kitchen.clear()


def first_minute(kitchen: Kitchen) -> None:
    table = kitchen.recipe("try")
    end = table.wait_for("Cellar")
    table.wait_for(r"temperature 21\.50? °C", end)


RECIPES: dict[str, Callable[[Kitchen], None]] = {
    "mqtt": mqtt, "mqtt-values": mqtt_values, "record-and-replay": record_and_replay,
    "try": first_minute}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--binaries", type=Path, required=True)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(RECIPES):
        raise Failed(f"unknown recipe {', '.join(sorted(unknown))}; the recipes are {', '.join(RECIPES)}")
    for name in arguments.names or RECIPES:
        with tempfile.TemporaryDirectory() as directory:
            kitchen = Kitchen(arguments.binaries, Path(directory))
            try:
                RECIPES[name](kitchen)
            finally:
                kitchen.clear()
        print(f"{name}: as printed")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"Scripts/recipes: {error}")
