"""The fields compared for each packet, and the known differences."""

from dataclasses import dataclass, field

# The result of one side for one packet: a value for each field that the packet has.
Value = int | str | list[int]
Packet = dict[str, Value]

# All fields. A run over all fixtures fails if one of them was never compared.
FIELDS = [
    "time in microseconds",
    "length",
    "direction",
    "adapter",
    "monitor opcode",
    "packet type",
    "malformed",
    "command opcode",
    "command parameter length",
    "command connection handles",
    "event code",
    "event parameter length",
    "LE subevent code",
    "opcode of completed command",
    "event connection handles",
    "ACL connection handle",
    "ACL boundary flag",
    "ACL broadcast flag",
    "ACL data length",
    "L2CAP length",
    "L2CAP channel",
    "signalling code",
    "signalling identifier",
    "signalling length",
    "ATT opcode",
    "ATT starting handle",
    "ATT ending handle",
    "ATT handles",
    "ATT group end handles",
    "ATT offset",
    "ATT Rx MTU",
    "ATT element length",
    "ATT value lengths",
    "ATT error's request",
    "ATT error's handle",
    "ATT error's code",
    "SMP code",
]

# Where tshark 4.0 shows less or more, and why that is not a difference. A run over all fixtures fails if an exception
# was not needed.
EXCEPTIONS = {
    "handle in a value": "tshark remembers requests, and so knows which values are declarations with handles in them; "
    "for ATT, and for us, a value is octets",
    "enhanced bearers": "tshark 4.0 does not know which channels are bearers of ATT",
    "log lines": "tshark 4.0 reads the name of the program in a User Logging record as a number, and fails",
    "opcode unknown to tshark": "tshark 4.0 does not know ATT opcodes added after Core 4.2, and shows nothing after them",
}


@dataclass
class Dissection:
    """The result of one side for a capture."""

    packets: list[Packet] = field(default_factory=list)
    # By packet, counted from 1: the fields that are not compared there, with the name of the exception.
    excepted: dict[int, dict[str, str]] = field(default_factory=dict)
    # Exceptions that were needed without leaving out a whole field.
    needed: list[str] = field(default_factory=list)
