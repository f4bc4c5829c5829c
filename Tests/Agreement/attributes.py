"""The output of tshark for an ATT PDU, by position in the PDU.

tshark looks into values, where it knows what they are, and shows what is in them under the names of the PDU's own
fields. So the fields of the PDU itself are identified by their position: tshark's own account of where each one begins and ends.
"""

import xml.etree.ElementTree as ElementTree

from fields import Dissection, Packet

ATT_OPCODE = "btatt.opcode"
# The fields after the opcode of each PDU without a list, in tshark's names, with the field to compare.
ERROR = [("btatt.req_opcode_in_error", "ATT error's request"), ("btatt.handle", "ATT error's handle"),
         ("btatt.error_code", "ATT error's code")]
RANGE = [("btatt.starting_handle", "ATT starting handle"), ("btatt.ending_handle", "ATT ending handle")]
HANDLE = [("btatt.handle", "ATT handles")]
OFFSET = [("btatt.offset", "ATT offset")]
TYPE = [("btatt.uuid16", None)]
LAYOUTS = {
    0x01: ERROR,
    0x02: [("btatt.client_rx_mtu", "ATT Rx MTU")],
    0x03: [("btatt.server_rx_mtu", "ATT Rx MTU")],
    0x04: RANGE,
    0x06: RANGE + TYPE,
    0x08: RANGE,
    0x0A: HANDLE,
    0x0C: HANDLE + OFFSET,
    0x10: RANGE,
    0x12: HANDLE,
    0x16: HANDLE + OFFSET,
    0x17: HANDLE + OFFSET,
    0x1B: HANDLE,
    0x1D: HANDLE,
    0x52: HANDLE,
    0xD2: HANDLE,
}
# The PDUs that end with a value of any length, and the number of other octets after it.
VALUES = {0x06: 0, 0x0B: 0, 0x0D: 0, 0x0F: 0, 0x12: 0, 0x16: 0, 0x17: 0, 0x1B: 0, 0x1D: 0, 0x52: 0, 0xD2: 12}
# The names of list elements in tshark, and whether they end with a value.
ELEMENTS = {"btatt.information_data": False, "btatt.handles_info": False, "btatt.attribute_data": True}
LISTED = [("btatt.handle", "ATT handles"), ("btatt.group_end_handle", "ATT group end handles")]
# The names of all fields that tshark shows as a number, to find those it shows beyond the PDU's own.
HANDLE_NAMES = {"btatt.handle", "btatt.starting_handle", "btatt.ending_handle", "btatt.group_end_handle"}
READ_MULTIPLE_REQUEST = 0x0E


def attribute_fields(dissection: Dissection, number: int, layer: ElementTree.Element | None) -> None:
    """Adds the fields of the PDU in this layer, if there is one, to the last packet."""
    if layer is None:
        return
    fields = dissection.packets[-1]
    opcode_field = next(part for part in layer if part.get("name") == ATT_OPCODE)
    opcode = int(opcode_field.get("show"), 0)
    fields["ATT opcode"] = opcode
    if "Unknown" in opcode_field.get("showname"):
        for name in ("ATT handles", "ATT value lengths"):
            dissection.excepted.setdefault(number, {})[name] = "opcode unknown to tshark"
        return
    layout = LAYOUTS.get(opcode, [])
    if opcode == READ_MULTIPLE_REQUEST:
        layout = HANDLE * sum(part.get("name") == "btatt.handle" for part in octets(layer))
    own, end = add_leading(fields, octets(layer)[1:], end_of(opcode_field), layout)
    for element in octets(layer):
        if element.get("name") in ELEMENTS:
            own += add_element(fields, element)
        elif element.get("name") == "btatt.length":
            fields["ATT element length"] = int(element.get("show"))
    if opcode in VALUES:
        fields["ATT value lengths"] = [end_of(layer) - end - VALUES[opcode]]
    if any(part.get("name") in HANDLE_NAMES and part not in own and is_octets(part) for part in layer.iter()):
        dissection.needed.append("handle in a value")


def add_element(fields: Packet, element: ElementTree.Element) -> list[ElementTree.Element]:
    """Adds the fields of one element of a list. Returns the parts that are the PDU's own."""
    own, end = add_leading(fields, octets(element), int(element.get("pos")), LISTED)
    if ELEMENTS[element.get("name")]:
        fields.setdefault("ATT value lengths", []).append(end_of(element) - end)
    return own


def add_leading(
    fields: Packet, parts: list[ElementTree.Element], start: int, layout: list[tuple[str, str | None]]
) -> tuple[list[ElementTree.Element], int]:
    """Adds the contiguous parts from `start`, as far as they are those of the layout.

    Returns these parts, and where the last one ends.
    """
    own: list[ElementTree.Element] = []
    for part, (key, name) in zip(parts, layout):
        if part.get("name") != key or int(part.get("pos")) != start:
            break
        own.append(part)
        start = end_of(part)
        if name is None:
            continue
        value = int(part.get("show"), 0)
        if name in ("ATT handles", "ATT group end handles"):
            fields.setdefault(name, []).append(value)
        else:
            fields[name] = value
    return own, start


def octets(parent: ElementTree.Element) -> list[ElementTree.Element]:
    """The parts that are in the packet, and not tshark's own conclusions."""
    return [part for part in parent if is_octets(part)]


def is_octets(part: ElementTree.Element) -> bool:
    return part.get("size") != "0"


def end_of(part: ElementTree.Element) -> int:
    return int(part.get("pos")) + int(part.get("size"))
