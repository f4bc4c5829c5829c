"""What is compared of each packet, and what is known to differ."""

from dataclasses import dataclass, field

# What one side says of one packet: a value for each field that the packet has.
Value = int | str | list[int]
Packet = dict[str, Value]

# Every field there is. A run over all fixtures fails where one of them was never compared.
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

# Where tshark 4.0 is silent or says more, and why that is no disagreement. A run over all fixtures fails where an
# exception was not needed.
EXCEPTIONS = {
    "handle in a value": "tshark remembers requests, and so knows which values are declarations with handles in them; "
    "for ATT, and for us, a value is octets",
    "log lines": "tshark 4.0 takes the name of the program in a User Logging record for a number, and stumbles",
    "opcode unknown to tshark": "tshark 4.0 knows no ATT opcode younger than Core 4.2, and shows nothing behind it",
}


@dataclass
class Dissection:
    """What one side says of a capture."""

    packets: list[Packet] = field(default_factory=list)
    # By packet, counted from 1: the fields that are not compared there, with the name of the exception.
    excepted: dict[int, dict[str, str]] = field(default_factory=dict)
    # How often an exception was needed where no field is left out as a whole.
    needed: list[str] = field(default_factory=list)
