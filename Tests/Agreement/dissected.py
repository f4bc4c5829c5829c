"""The output of tshark for a capture."""

import os
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from decimal import Decimal
from pathlib import Path
from typing import Iterator

from attributes import attribute_fields
from fields import FIELDS, Dissection, Packet

# Field by field, where the value is one number that the protocol's layer shows once: protocol, tshark's name.
NUMBERS = {
    "command opcode": ("bthci_cmd", "bthci_cmd.opcode"),
    "command parameter length": ("bthci_cmd", "bthci_cmd.param_length"),
    "event code": ("bthci_evt", "bthci_evt.code"),
    "event parameter length": ("bthci_evt", "bthci_evt.param_length"),
    "LE subevent code": ("bthci_evt", "bthci_evt.le_meta_subevent"),
    "opcode of completed command": ("bthci_evt", "bthci_evt.opcode"),
    "ACL connection handle": ("bthci_acl", "bthci_acl.chandle"),
    "ACL boundary flag": ("bthci_acl", "bthci_acl.pb_flag"),
    "ACL broadcast flag": ("bthci_acl", "bthci_acl.bc_flag"),
    "ACL data length": ("bthci_acl", "bthci_acl.length"),
    "L2CAP length": ("btl2cap", "btl2cap.length"),
    "L2CAP channel": ("btl2cap", "btl2cap.cid"),
    "SMP code": ("btsmp", "btsmp.opcode"),
}

# The same for the layer's list of commands.
COMMAND_NUMBERS = {
    "signalling code": "btl2cap.cmd_code",
    "signalling identifier": "btl2cap.cmd_ident",
    "signalling length": "btl2cap.cmd_length",
}

# Which layer each type of packet has.
TYPES = {"bthci_cmd": 1, "bthci_acl": 2, "bthci_sco": 3, "bthci_evt": 4, "bthci_iso": 5}
# The direction of each kind of monitor record that is a packet, by tshark's name.
MONITOR_DIRECTIONS = {
    "HCI Command Packet": "sent",
    "HCI Event Packet": "received",
    "ACL Tx Packet": "sent",
    "ACL Rx Packet": "received",
    "SCO Tx Packet": "sent",
    "SCO Rx Packet": "received",
}
NO_ADAPTER = 0xFFFF
USER_LOGGING = 13
L2CAP_HEADER_LENGTH = 4
DYNAMIC_CHANNELS = range(0x0040, 0x0080)


def dissect(capture: Path) -> Dissection:
    """The packets of a capture, as tshark sees them."""
    with tempfile.TemporaryDirectory() as settings:
        # Without user settings.
        environment = os.environ | {"HOME": settings, "XDG_CONFIG_HOME": settings, "WIRESHARK_CONFIG_DIR": settings}
        result = subprocess.run(
            ["tshark", "-n", "-r", capture, "-T", "pdml", "-o", "bthci_acl.hci_acl_reassembly:TRUE"],
            capture_output=True, env=environment, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"tshark {capture} ended with {result.returncode}: {result.stderr.decode().strip()}")
    dissection = Dissection()
    for number, element in enumerate(ElementTree.fromstring(result.stdout).iter("packet"), 1):
        add_packet(dissection, number, element)
    return dissection


def add_packet(dissection: Dissection, number: int, element: ElementTree.Element) -> None:
    """Adds one packet of the PDML."""
    layers = {layer.get("name"): layer for layer in element if layer.get("name") != "geninfo"}
    fields: Packet = {}
    dissection.packets.append(fields)
    for name, (layer, key) in NUMBERS.items():
        if layer in layers and (found := list(shown(layers[layer], key))):
            fields[name] = found[0]
    for command in layers.get("btl2cap", ()):
        if command.get("name") == "btl2cap.command":
            fields |= {name: next(shown(command, key)) for name, key in COMMAND_NUMBERS.items()}
    for layer, name in [("bthci_cmd", "command connection handles"), ("bthci_evt", "event connection handles")]:
        if handles := list(shown(layers.get(layer, ()), f"{layer}.connection_handle", is_deep=True)):
            fields[name] = handles
    add_frame(fields, layers)
    fields["malformed"] = int(any("_ws.malformed" in (part.get("name"), part.get("show")) for part in element.iter()))
    if fields.get("monitor opcode") == USER_LOGGING:
        dissection.excepted[number] = {"malformed": "log lines"}
    if fields.get("L2CAP channel") in DYNAMIC_CHANNELS and "btatt" not in layers:
        dissection.excepted[number] = {name: "enhanced bearers" for name in FIELDS if name.startswith("ATT ")}
    attribute_fields(dissection, number, layers.get("btatt"))
    add_fragment(dissection, layers)


def add_frame(fields: Packet, layers: dict[str, ElementTree.Element]) -> None:
    """What every packet has."""
    frame = {part.get("name"): part.get("show") for part in layers["frame"]}
    fields["time in microseconds"] = int(Decimal(frame["frame.time_epoch"]) * 1_000_000)
    fields["length"] = int(frame["frame.cap_len"])
    if "hci_h4" in layers:
        fields["packet type"] = next(shown(layers["hci_h4"], "hci_h4.type"))
        is_received = next(shown(layers["hci_h4"], "hci_h4.direction", is_generated=True))
        fields["direction"] = "received" if is_received else "sent"
    if "hci_mon" in layers:
        adapter = next(shown(layers["hci_mon"], "hci_mon.adapter_id", is_generated=True))
        if adapter != NO_ADAPTER:
            fields["adapter"] = adapter
        kind = next(part for part in layers["hci_mon"] if part.get("name") == "hci_mon.opcode")
        fields["monitor opcode"] = int(kind.get("show"))
        name = kind.get("showname").removeprefix("Opcode: ").rpartition(" (")[0]
        if name in MONITOR_DIRECTIONS:
            fields["direction"] = MONITOR_DIRECTIONS[name]
        if types := [number for layer, number in TYPES.items() if layer in layers]:
            fields["packet type"] = types[0]


def add_fragment(dissection: Dissection, layers: dict[str, ElementTree.Element]) -> None:
    """Takes what a last fragment shows of the L2CAP header to the fragment that holds it."""
    if "bthci_acl" not in layers or "btl2cap" not in layers:
        return
    for first in shown(layers["bthci_acl"], "bthci_acl.continuation_to", is_generated=True):
        fields = dissection.packets[first - 1]
        if fields["ACL data length"] >= L2CAP_HEADER_LENGTH:
            for name in ("L2CAP length", "L2CAP channel"):
                fields[name] = dissection.packets[-1][name]


def shown(
    parent: ElementTree.Element, name: str, is_deep: bool = False, is_generated: bool = False
) -> Iterator[int]:
    """The numbers under one name, in the order they are shown; generated ones are in no octet of the packet."""
    for part in parent.iter() if is_deep and len(parent) else parent:
        if part.get("name") == name and (is_generated or part.get("size") != "0"):
            yield int(part.get("show"), 0)
