"""The output of `ble decode` for a capture."""

import json
import subprocess
from pathlib import Path

from fields import Dissection, Packet

# The path of each field in the objects of `ble decode --json`.
MEMBERS = {
    "time in microseconds": "microsecondsSince1970",
    "direction": "direction",
    "adapter": "adapter",
    "monitor opcode": "monitorOpcode",
    "packet type": "type",
    "command opcode": "command.opcode",
    "command parameter length": "command.parameterLength",
    "command connection handles": "command.connectionHandles",
    "event code": "event.code",
    "event parameter length": "event.parameterLength",
    "LE subevent code": "event.subeventCode",
    "opcode of completed command": "event.commandOpcode",
    "event connection handles": "event.connectionHandles",
    "ACL connection handle": "acl.connectionHandle",
    "ACL boundary flag": "acl.boundary",
    "ACL broadcast flag": "acl.broadcast",
    "ACL data length": "acl.dataLength",
    "L2CAP length": "l2cap.length",
    "L2CAP channel": "l2cap.channel",
    "signalling code": "signalling.code",
    "signalling identifier": "signalling.identifier",
    "signalling length": "signalling.length",
    "ATT opcode": "att.opcode",
    "ATT starting handle": "att.startingHandle",
    "ATT ending handle": "att.endingHandle",
    "ATT handles": "att.handles",
    "ATT group end handles": "att.groupEndHandles",
    "ATT offset": "att.offset",
    "ATT Rx MTU": "att.rxMTU",
    "ATT element length": "att.elementLength",
    "ATT value lengths": "att.valueLengths",
    "ATT error's request": "att.error.requestOpcode",
    "ATT error's handle": "att.error.handle",
    "ATT error's code": "att.error.code",
    "SMP code": "smp.code",
}


def decode(ble: Path, capture: Path) -> Dissection:
    """The packets of a capture, as `ble decode` sees them."""
    result = subprocess.run([ble, "decode", "--json", capture], capture_output=True, text=True, check=False)
    if result.returncode != 0 or result.stderr:
        raise RuntimeError(f"ble decode {capture} ended with {result.returncode}: {result.stderr.strip()}")
    return Dissection([packet(json.loads(line)) for line in result.stdout.splitlines()])


def packet(decoded: dict) -> Packet:
    """The fields of one object."""
    fields = {name: found for name, path in MEMBERS.items() if (found := member(decoded, path)) is not None}
    # The monitor's packets have no indicator in the capture; `ble decode` adds it.
    has_added_indicator = "monitorOpcode" in decoded and "type" in decoded
    fields["length"] = decoded["length"] - (1 if has_added_indicator else 0)
    fields["malformed"] = int("malformed" in decoded)
    return fields


def member(decoded: dict, path: str):
    """The value that a path of names leads to; None where there is none."""
    value = decoded
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value
