"""Our programs pair with Bumble's host, in both roles: every association model, bonds, and pairings that must fail."""

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
from collections.abc import Callable
from dataclasses import dataclass, field

import airs

HERE = pathlib.Path(__file__).resolve().parent
PAYLOAD = HERE / "card.vcf"
BUMBLE_PERIPHERAL, BUMBLE_CENTRAL = "F0:0D:00:00:00:01", "F0:0D:00:00:00:02"
# Our statuses.
DONE, LINK_LOST = 0, 4


@dataclass
class Step:
    """One run of a program of ours against one of Bumble's host.

    `ours` is the subcommand or program with its options. A peripheral of ours has no status: it is ended when Bumble's
    central has ended.
    """

    ours: list[str]
    theirs: list[str]
    words: list[str] = field(default_factory=list)
    their_words: list[str] = field(default_factory=list)
    status: int = DONE
    their_status: int = DONE
    # Whose bonds are lost before: "ours", "theirs".
    lost: str | None = None
    # What a person types at our program's terminal, each after something was said. Without it there is no terminal.
    typed: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Plan:
    """What is done one after the other, and what it shows."""

    name: str
    steps: list[Step]
    # Whether our controller has to resolve addresses. Bumble's takes the keys for that, and resolves none.
    needs_resolution: bool = False

    @property
    def we_are_central(self) -> bool:
        return self.steps[0].ours[0] != "peripheral"


def words(text: str) -> list[str]:
    return text.split()


# MARK: Models

SECURE, LEGACY = "LE Secure Connections", "legacy pairing"
# The model, what we can do, what Bumble's host can do, and with which pairing there is such a model.
MODELS: list[tuple[str, str, str, list[str]]] = [
    ("just works", "none", "none", [SECURE, LEGACY]),
    ("passkey entry, typed here", "keyboard --passkey 042195", "display --passkey 42195", [SECURE, LEGACY]),
    ("passkey entry, typed there", "display", "keyboard", [SECURE, LEGACY]),
    ("passkey entry, typed at both", "keyboard --passkey 000007", "keyboard --typed 7", [SECURE, LEGACY]),
    ("passkey entry, between two devices with keyboard and display", "keyboard-display --passkey 042195",
     "keyboard-display --passkey 42195", [LEGACY]),
    ("numeric comparison", "display-yes-no", "display-yes-no", [SECURE]),
    ("numeric comparison, between two devices with keyboard and display", "keyboard-display", "keyboard-display",
     [SECURE]),
]


def model_plans() -> list[Plan]:
    """Each model in both roles: pairing, then a link that is encrypted with the key of the bond."""
    plans = []
    for model, ours, theirs, kinds in MODELS:
        for kind in kinds:
            summary = f"{model.split(',')[0]}, {kind}, 16 octets, bonded"
            protected = [] if model == "just works" else ["--authenticated"]
            options = words(f"--io {theirs}") + (["--legacy"] if kind == LEGACY else [])
            mitm = ["--mitm"] if protected else []
            secret = "F102" if protected else "F101"
            value = f"{secret[:2]} {secret[2:]}"
            pair = ["pair", "--io", *words(ours), "--accept", *protected]
            plans.append(Plan(f"our central pairs with Bumble's peripheral: {model}, {kind}", [
                Step([*pair, "--read", secret], [*options, *mitm], [summary, value], ["paired"]),
                # Without any agent's doing.
                Step(["pair", "--read", secret], options, [summary, value], ["encrypted"]),
            ]))
            serve = ["peripheral", "--pair", "--encrypted", "--io", *words(ours), "--accept", *protected]
            plans.append(Plan(f"Bumble's central pairs with our peripheral: {model}, {kind}", [
                Step(serve, [*options, *mitm, "--do", "refused-card,pair,card/encrypt,card"], [f": {summary}"],
                     ["refused: INSUFFICIENT_AUTHENTICATION"]),
            ]))
    return plans


def out_of_band_plans() -> list[Plan]:
    """Data that is handed over in files, in one direction or both, in both roles."""
    plans = []
    ours, theirs = "{}/ours.oob", "{}/theirs.oob"
    ways: list[tuple[str, list[str], list[str]]] = [
        ("both ways", ["--oob-out", ours, "--oob-in", theirs], ["--oob-out", theirs, "--oob-in", ours]),
        ("from us", ["--oob-out", ours], ["--oob-in", ours]),
        ("from them", ["--oob-in", theirs], ["--oob-out", theirs]),
    ]
    for way, our_files, their_files in ways:
        summary = f"out of band, {SECURE}, 16 octets, bonded"
        plans.append(Plan(f"our central pairs with Bumble's peripheral out of band, {way}", [
            Step(["pair", *our_files, "--read", "F102"], their_files, [summary, "F1 02"], ["paired"])]))
        plans.append(Plan(f"Bumble's central pairs with our peripheral out of band, {way}", [
            Step(["peripheral", "--pair", "--encrypted", "--accept", *our_files], [*their_files, "--do", "pair,card"],
                 [f": {summary}"])]))
    # A temporary key is known to both.
    key = ["--oob-in", str(HERE / "temporary_key.oob")]
    summary = f"out of band, {LEGACY}, 16 octets, bonded"
    plans.append(Plan(f"our central pairs with Bumble's peripheral out of band, {LEGACY}", [
        Step(["pair", *key, "--read", "F102"], [*key, "--legacy"], [summary, "F1 02"], ["paired"])]))
    plans.append(Plan(f"Bumble's central pairs with our peripheral out of band, {LEGACY}", [
        Step(["peripheral", "--pair", "--encrypted", "--accept", *key], [*key, "--legacy", "--do", "pair,card"],
             [f": {summary}"])]))
    return plans


# MARK: What else there is

def other_plans() -> list[Plan]:
    """Access on demand, lost bonds, and refusals."""
    typing = words("--io keyboard --passkey 042195")
    showing = words("--io display --passkey 42195")
    serving = words("peripheral --pair --encrypted --accept --io none")
    weak = "the encryption key would be too short"
    passkeys = words("--io keyboard --passkey 000001 --authenticated")
    plans = [
        Plan("our central pairs again for a value that its bond does not allow it to read", [
            Step(words("pair"), showing, ["just works, LE Secure Connections, 16 octets, bonded"]),
            Step([*words("pair --read F102"), *typing], [*showing, "--mitm"], ["F1 02", "passkey entry"]),
        ]),
        Plan("our central pairs when a peripheral requests it", [
            Step(["central", "--pair", *typing], [*showing, "--mitm", "--request"], ["passkey entry", "BEGIN:VCARD"],
                 ["paired"]),
        ]),
        Plan("our central uses the enhanced ATT bearers of Bumble's peripheral", [
            Step(["central", "--pair", *typing], [*showing, "--mitm", "--request", "--enhanced"], ["BEGIN:VCARD"],
                 ["paired", "over an enhanced bearer: ATT_"]),
        ]),
        Plan("Bumble's central uses the enhanced ATT bearers of our peripheral", [
            Step(serving, ["--do", "refused-bearers,pair,enhanced-card/encrypt,enhanced-card"], [": just works"],
                 ["refused: ", "enhanced-card: done"]),
        ]),
        Plan("our central asks for the passkey on the terminal until it is valid", [
            Step(words("pair --authenticated"), [*showing, "--mitm"], ["a passkey has six digits", "passkey entry, LE Secure Connections"],
                 ["paired"], typed=[("or nothing to refuse: ", "12ab"), ("or nothing to refuse: ", "042195")]),
        ]),
        Plan("our peripheral asks on the terminal whether a peer may pair", [
            Step(words("peripheral --pair --encrypted"), ["--do", "pair,card"],
                 ["type y for yes", "just works, LE Secure Connections"],
                 typed=[("allow it? [y/n] ", "perhaps"), ("allow it? [y/n] ", "y")]),
        ]),
        Plan("our peripheral refuses a pairing that is declined on the terminal", [
            Step(words("peripheral --pair --encrypted"), ["--do", "pair"], [], ["PAIRING_NOT_SUPPORTED"],
                 their_status=LINK_LOST, typed=[("allow it? [y/n] ", "n")]),
        ]),
        Plan("our central with a peripheral that keeps no bond", [
            Step(["pair"], ["--no-bond"], ["just works, LE Secure Connections, 16 octets, not bonded"]),
        ]),
        Plan("our central with a peripheral that has private addresses", [
            Step(["pair"], ["--resolvable"], ["bonded"], ["paired"]),
            # A new one each time.
            Step(words("pair --read F101"), words("--resolvable --private"), ["F1 01"], ["encrypted"]),
            Step(words("pair --read F101"), words("--resolvable --private"), ["F1 01"], ["encrypted"]),
        ], needs_resolution=True),
        Plan("our peripheral with a central that has private addresses", [
            Step(serving, words("--resolvable --private --do pair,card,renew/encrypt,card,renew/encrypt,card")),
        ]),
        # PIN or Key Missing; on RootCanal it is Authentication Failure.
        Plan("our central when the peripheral has lost its bond", [
            Step(["pair"], []),
            Step(["pair"], [], ["encryption failed"], status=LINK_LOST, lost="theirs"),
            Step(["pair"], [], ["bonded"], ["paired"], lost="ours"),
        ]),
        Plan("our central when it has lost its own bond", [
            Step(["pair"], []),
            Step(["pair"], [], ["bonded"], ["paired"], lost="ours"),
        ]),
        Plan("our peripheral when the central has lost its bond", [
            Step(serving, ["--do", "pair,card"]),
            # Anyone could have its address. The advice that follows needs the link, which the refused peer may end first.
            Step(serving, ["--do", "pair"], ["failed: this device refused"], ["AUTHENTICATION_REQUIREMENTS"],
                 their_status=LINK_LOST, lost="theirs"),
            Step([*serving, "--replace-bonds"], ["--do", "pair,card/encrypt,card"], ["bonded"]),
        ]),
        Plan("our peripheral when it has lost its own bond", [
            Step(serving, ["--do", "pair,card"]),
            Step(serving, ["--do", "encrypt"], [], ["failed: HCI_Error"], their_status=LINK_LOST, lost="ours"),
        ]),
        Plan("our peripheral does not let a weaker pairing replace a bond", [
            Step([*serving, *words("--io display --authenticated")], [*words("--io keyboard --mitm --do pair,card")]),
            Step(serving, ["--do", "pair"], ["this device refused"], ["AUTHENTICATION_REQUIREMENTS"],
                 their_status=LINK_LOST, lost="theirs"),
        ]),
        Plan("our peripheral that requires authentication refuses Just Works", [
            Step([*serving, "--authenticated"], ["--do", "pair"], ["this device refused"],
                 ["AUTHENTICATION_REQUIREMENTS"], their_status=LINK_LOST),
        ]),
        Plan("our peripheral that requires LE Secure Connections refuses legacy pairing", [
            Step([*serving, "--secure-connections"], ["--legacy", "--do", "pair"], ["this device refused"],
                 ["AUTHENTICATION_REQUIREMENTS"], their_status=LINK_LOST),
        ]),
        Plan("our central that requires authentication refuses Just Works", [
            Step(words("pair --authenticated --io none"), [], ["this device refused"], ["AUTHENTICATION_REQUIREMENTS"],
                 status=LINK_LOST),
        ]),
        Plan("our central refuses a key that is too short", [
            Step(["pair"], ["--key-size", "7"], [weak], ["ENCRYPTION_KEY_SIZE"], status=LINK_LOST),
        ]),
        Plan("our peripheral refuses a key that is too short", [
            Step(serving, ["--key-size", "15", "--do", "pair"], [weak], ["ENCRYPTION_KEY_SIZE"],
                 their_status=LINK_LOST),
        ]),
        Plan("our central with a peripheral that refuses to pair", [
            Step(["pair"], ["--refuse"], ["pairing is not supported or not wanted"], status=LINK_LOST),
        ]),
        Plan("our peripheral refuses to pair if nobody can answer", [
            Step(words("peripheral --pair --encrypted"), ["--do", "pair"], ["nobody can answer"],
                 ["PAIRING_NOT_SUPPORTED"], their_status=LINK_LOST),
        ]),
        Plan("our peripheral without --pair refuses to pair", [
            Step(words("peripheral --encrypted"), ["--do", "pair"], [], ["PAIRING_NOT_SUPPORTED"],
                 their_status=LINK_LOST),
        ]),
    ]
    for kind, option in ((SECURE, []), (LEGACY, ["--legacy"])):
        plans.append(Plan(f"our central with the wrong passkey, {kind}", [
            Step(["pair", *passkeys], [*showing, "--mitm", *option], ["a passkey or a confirm value was wrong"],
                 ["CONFIRM_VALUE_FAILED"], status=LINK_LOST)]))
        plans.append(Plan(f"our peripheral with the wrong passkey, {kind}", [
            Step(["peripheral", "--pair", "--encrypted", "--accept", *passkeys],
                 [*showing, "--mitm", "--do", "pair", *option], ["a passkey or a confirm value was wrong"],
                 ["CONFIRM_VALUE_FAILED"], their_status=LINK_LOST)]))
    return plans


# MARK: Running

@dataclass
class Case:
    """A plan over an air."""

    plan: Plan
    air_name: str
    air: airs.AirFactory
    binaries: pathlib.Path

    @property
    def title(self) -> str:
        return f"{self.plan.name}, over {self.air_name}"

    def run(self, directory: pathlib.Path, limit: float) -> str | None:
        """Runs it. Returns the error, or nothing."""
        deadline = time.monotonic() + limit
        try:
            with self.air(directory / "air.log") as air:
                for number, step in enumerate(self.steps):
                    if problem := self.run_step(step, air, directory, deadline):
                        return f"step {number + 1}: {problem}"
        except subprocess.TimeoutExpired:
            return f"not done in {limit:.0f} s"
        except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
            return str(error)
        return None

    @property
    def steps(self) -> list[Step]:
        return self.plan.steps

    def our_command(self, step: Step, transport: str, directory: pathlib.Path) -> list[str]:
        name, *options = in_directory(step.ours, directory)
        common = ["--transport", transport, "--bonds", str(directory / "bonds"), "--btsnoop",
                  str(directory / f"ours-{self.steps.index(step) + 1}.btsnoop")]
        match name:
            case "pair":
                return [str(self.binaries / "ble"), "pair", BUMBLE_PERIPHERAL, "--timeout", "20", *common, *options]
            case "central":
                return [str(self.binaries / "central"), "--timeout", "20", *common, *options]
            case _:
                return [str(self.binaries / "peripheral"), "--payload", str(PAYLOAD), *common, *options]

    def lose(self, whose: str | None, directory: pathlib.Path) -> None:
        """Removes the bond of one side."""
        if whose == "ours":
            address = BUMBLE_PERIPHERAL if self.plan.we_are_central else BUMBLE_CENTRAL
            command = [str(self.binaries / "ble"), "bonds", "remove", address, "--bonds", str(directory / "bonds")]
            subprocess.run(command, check=True, capture_output=True)
        elif whose == "theirs":
            (directory / "keys.json").unlink()

    def run_step(self, step: Step, air: airs.Air, directory: pathlib.Path, deadline: float) -> str | None:
        self.lose(step.lost, directory)
        logs = [directory / name for name in ("ours.log", "theirs.log")]
        starts = [log.stat().st_size if log.exists() else 0 for log in logs]
        transports = air.transports if not self.plan.we_are_central else air.transports[::-1]
        # The role of Bumble's host is the other one.
        role = "peripheral" if self.plan.we_are_central else "central"
        their_command = [
            sys.executable, str(HERE / "bumble_security.py"), transports[1], role, "--keys",
            str(directory / "keys.json"), "--other", str(logs[0]), *in_directory(step.theirs, directory)]
        commands = [self.our_command(step, transports[0], directory), their_command]
        with contextlib.ExitStack() as stack:
            def start(command: list[str], log: pathlib.Path, stdin: int) -> subprocess.Popen[bytes]:
                with open(log, "ab") as output:
                    child = subprocess.Popen(command, stdin=stdin, stdout=output, stderr=output)
                stack.callback(airs.stop, child)
                return child

            def wait(child: subprocess.Popen[bytes]) -> int:
                return child.wait(timeout=max(deadline - time.monotonic(), 0.1))

            # What the other says is looked for from here on.
            logs[0].touch()
            keyboard, stdin = terminal(stack) if step.typed else (None, subprocess.DEVNULL)
            ours = start(commands[0], logs[0], stdin)
            theirs = start(commands[1], logs[1], subprocess.DEVNULL)
            if keyboard is not None:
                type_at(keyboard, step.typed, logs[0], starts[0], deadline)
            if self.plan.we_are_central and (status := wait(ours)) != step.status:
                return f"our program ended with status {status} and not {step.status}"
            if (status := wait(theirs)) != step.their_status:
                return f"Bumble's ended with status {status} and not {step.their_status}"
            if not self.plan.we_are_central:
                # It may not have printed yet what the last packet led to.
                for phrase in step.words:
                    airs.wait_for_phrase(logs[0], phrase, deadline, starts[0])
                airs.stop(ours)
        for log, first, wanted in zip(logs, starts, (step.words, step.their_words), strict=True):
            text = log.read_bytes()[first:].decode("utf-8", "replace")
            for phrase in wanted:
                if phrase not in text:
                    return f"{log.stem} did not say “{phrase}”"
        return keys_in_logs(directory)


def in_directory(options: list[str], directory: pathlib.Path) -> list[str]:
    """Options, with the directory of the case where {} stands."""
    return [option.replace("{}", str(directory)) for option in options]


def terminal(stack: contextlib.ExitStack) -> tuple[int, int]:
    """A pseudo-terminal: what a person types at, and what a program reads from."""
    ends = pty.openpty()
    for end in ends:
        stack.callback(os.close, end)
    return ends


def type_at(keyboard: int, typed: list[tuple[str, str]], log: pathlib.Path, start: int, deadline: float) -> None:
    """Types each line once the program has asked for it since the line before."""
    for said, line in typed:
        start = airs.wait_for_phrase(log, said, deadline, start)
        os.write(keyboard, f"{line}\n".encode())


def keys_in_logs(directory: pathlib.Path) -> str | None:
    """Whether our program has said a key, in any form. Returns what is wrong, or nothing."""
    log = (directory / "ours.log").read_text(encoding="utf-8").lower()
    for bonds in directory.glob("bonds/*.json"):
        for key in re.findall(r'"([0-9a-fA-F]{32})"', bonds.read_text(encoding="utf-8")):
            octets = bytes.fromhex(key)
            # The resolving key of a device without private addresses is no secret.
            for form in (octets, octets[::-1]) if any(octets) else ():
                if any(text in log for text in (form.hex(), form.hex(" "), str(int.from_bytes(form, "big")))):
                    return "our program has printed a key"
    return None


def all_cases(binaries: pathlib.Path) -> list[Case]:
    """Every case there is with these executables."""
    bumbles = "Bumble's controllers"
    over: list[tuple[str, Callable[..., contextlib.AbstractContextManager[airs.Air]]]] = [
        ("our radio", functools.partial(airs.our_radio, binaries)),
        (bumbles, airs.bumble_controllers),
        ("RootCanal", airs.rootcanal),
    ]
    # Controllers carry the PDUs of every model alike; what they have a part in is tried with each.
    return [Case(plan, *over[0], binaries) for plan in model_plans() + out_of_band_plans()] + [
        Case(plan, name, air, binaries) for name, air in over for plan in other_plans()
        if name != bumbles or not plan.needs_resolution]
