"""Tests that the comparison finds differences."""

import shutil
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import decoded
from agreement import Report, compare, gaps
from dissected import dissect
from fields import EXCEPTIONS, FIELDS, Dissection

# A btsnoop header (H4), then a Read Request and its answer, a Pairing Failed, a Connection Parameter Update Response, a
# Command Complete and an LE Meta event, each sent at the same time.
HEADER = bytes.fromhex("6274736E6F6F7000 00000001 000003EA")
PACKETS = [
    "02 40 00 07 00 03 00 04 00 0A 03 00",
    "02 40 20 07 00 03 00 04 00 0B AA BB",
    "02 40 20 06 00 02 00 06 00 05 08",
    "02 40 20 0A 00 06 00 05 00 13 07 02 00 00 00",
    "04 0E 04 01 03 0C 00",
    "04 3E 0A 03 00 40 00 18 00 00 00 F4 01",
]


def capture(directory: Path) -> Path:
    """Writes the packets above as a capture."""
    records = b""
    for text in PACKETS:
        packet = bytes.fromhex(text)
        flags = 2 if packet[0] == 4 else 0
        # Only the first goes to the controller.
        flags |= text != PACKETS[0]
        size = len(packet).to_bytes(4, "big")
        records += size + size + flags.to_bytes(4, "big") + bytes(4) + bytes.fromhex("00E03AB44A676000") + packet
    path = directory / "capture.btsnoop"
    path.write_bytes(HEADER + records)
    return path


def shifted(value):
    """Another value of the same kind."""
    match value:
        case int():
            return value + 1
        case list():
            return [*value, 0]
    return value + "x"


class DissectionTests(unittest.TestCase):
    """Against tshark itself."""

    def setUp(self) -> None:
        if not shutil.which("tshark"):
            self.skipTest("there is no tshark")
        with tempfile.TemporaryDirectory() as directory:
            self.dissection = dissect(capture(Path(directory)))

    def test_fields_are_found(self) -> None:
        request, response, failure, update, completion, connection_update = self.dissection.packets
        self.assertEqual(request["direction"], "sent")
        self.assertEqual(request["time in microseconds"], 946_684_800_000_000)
        self.assertEqual(
            [request[key] for key in ("packet type", "ACL connection handle", "L2CAP channel", "ATT opcode")],
            [2, 0x40, 4, 0x0A])
        self.assertEqual(request["ATT handles"], [3])
        # tshark knows which handle is read, but the response does not contain it.
        self.assertNotIn("ATT handles", response)
        self.assertEqual(response["ATT value lengths"], [2])
        self.assertEqual(failure["SMP code"], 5)
        self.assertEqual(
            [update[f"signalling {key}"] for key in ("code", "identifier", "length")], [0x13, 7, 2])
        self.assertEqual(completion["opcode of completed command"], 0x0C03)
        self.assertEqual(connection_update["event connection handles"], [0x40])

    def test_every_altered_field_is_reported(self) -> None:
        for number, packet in enumerate(self.dissection.packets):
            for name in packet:
                altered = Dissection([dict(packet) for packet in self.dissection.packets])
                altered.packets[number][name] = shifted(packet[name])
                differences = compare("it", altered, self.dissection).differences
                self.assertEqual(len(differences), 1, differences)
                self.assertIn(f"it packet {number + 1}: {name} is ", differences[0])

    def test_every_missing_field_is_reported(self) -> None:
        for number, packet in enumerate(self.dissection.packets):
            for name in packet:
                altered = Dissection([dict(packet) for packet in self.dissection.packets])
                del altered.packets[number][name]
                for ours, theirs in ((altered, self.dissection), (self.dissection, altered)):
                    self.assertEqual(len(compare("it", ours, theirs).differences), 1)

    def test_agreement_has_no_differences(self) -> None:
        self.assertEqual(compare("it", self.dissection, self.dissection).differences, [])


class ComparisonTests(unittest.TestCase):
    """Tests that need no tshark."""

    def test_missing_packets_are_reported(self) -> None:
        self.assertEqual(len(compare("it", Dissection([]), Dissection([{}])).differences), 1)

    def test_unknown_fields_are_reported(self) -> None:
        self.assertEqual(len(compare("it", Dissection([{"colour": 1}]), Dissection([{}])).differences), 1)

    def test_malformed_packets_are_reported(self) -> None:
        malformed = Dissection([{"malformed": 1}])
        self.assertEqual(len(compare("it", malformed, malformed).differences), 1)

    def test_exceptions_leave_out_one_field_and_are_counted(self) -> None:
        name = next(iter(EXCEPTIONS))
        theirs = Dissection([{"ATT opcode": 1, "ATT handles": [1]}], {1: {"ATT handles": name}})
        report = compare("it", Dissection([{"ATT opcode": 2, "ATT handles": [2]}]), theirs)
        self.assertEqual(len(report.differences), 1)
        self.assertEqual(report.excepted, Counter({name: 1}))

    def test_what_was_never_met_is_reported(self) -> None:
        full = Report(compared=Counter(dict.fromkeys(FIELDS, 1)), excepted=Counter(dict.fromkeys(EXCEPTIONS, 1)))
        self.assertEqual(gaps(full), [])
        for name in FIELDS:
            self.assertEqual(len(gaps(Report(compared=full.compared - Counter([name]), excepted=full.excepted))), 1)
        for name in EXCEPTIONS:
            self.assertEqual(len(gaps(Report(compared=full.compared, excepted=full.excepted - Counter([name])))), 1)

    def test_every_field_is_read_from_the_objects(self) -> None:
        self.assertEqual(set(FIELDS), set(decoded.MEMBERS) | {"length", "malformed"})

    def test_the_added_indicator_is_not_counted(self) -> None:
        self.assertEqual(decoded.packet({"length": 4, "type": 1, "monitorOpcode": 2})["length"], 3)
        self.assertEqual(decoded.packet({"length": 4, "monitorOpcode": 12})["length"], 4)
        self.assertEqual(decoded.packet({"length": 4, "type": 1})["length"], 4)


if __name__ == "__main__":
    unittest.main()
