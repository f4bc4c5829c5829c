"""A host that sends raw packets, including those that no well-behaved host sends."""

from __future__ import annotations

import os
import pathlib
import select
import socket
import time

import airs

RESET = bytes.fromhex("01030c00")
# Every event, so that the connection is reported.
SET_EVENT_MASK = bytes.fromhex("01010c08ffffffffffffffff")
# Public address 00:1B:DC:00:00:01, that of the radio's first controller; a long supervision timeout.
ADVERTISING_PARAMETERS = bytes.fromhex("0106200f2000200000000000000000000007 00".replace(" ", ""))
ADVERTISING_ENABLE = bytes.fromhex("010a200101")
CREATE_CONNECTION = bytes.fromhex("010d2019100010000000010000dc1b000018001800000080" "0c00000000")


class Host:
    """A host on a controller of a radio, at the path of a socket. The kernel keeps little for those."""

    def __init__(self, path: pathlib.Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(airs.LIMIT)
        deadline = time.monotonic() + airs.LIMIT
        # The file is there a moment before somebody listens.
        while (error := self.socket.connect_ex(str(path))) != 0:
            if time.monotonic() > deadline:
                raise OSError(error, os.strerror(error))
            time.sleep(0.02)
        self.received = bytearray()

    def close(self) -> None:
        self.socket.close()

    def command(self, packet: bytes) -> bytes:
        """Sends a command, and waits for the event that answers it."""
        self.socket.sendall(packet)
        return self.wait_for(
            lambda event: event[1] == 0x0E and event[4:6] == packet[1:3]
            or event[1] == 0x0F and event[5:7] == packet[1:3])

    def wait_for(self, is_wanted) -> bytes:
        """The next packet for which a condition holds. Earlier packets are dropped."""
        while True:
            while (packet := self.take()) is not None:
                if is_wanted(packet):
                    return packet
            piece = self.socket.recv(1 << 16)
            if not piece:
                raise RuntimeError("the radio has closed the connection")
            self.received += piece

    def take(self) -> bytes | None:
        """Removes a packet from the received bytes, if it is complete."""
        if len(self.received) < 5:
            length = 3 + self.received[2] if len(self.received) > 2 and self.received[0] == 4 else None
        elif self.received[0] == 4:
            length = 3 + self.received[2]
        else:
            length = 5 + int.from_bytes(self.received[3:5], "little")
        if length is None or len(self.received) < length:
            return None
        packet, self.received = bytes(self.received[:length]), self.received[length:]
        return packet

    def flood(self, packets: bytes, seconds: float) -> int:
        """Sends the same packets for some time and reads nothing. Returns the number of accepted bytes."""
        self.socket.setblocking(False)
        end, sent, offset = time.monotonic() + seconds, 0, 0
        while (left := end - time.monotonic()) > 0:
            if not select.select([], [self.socket], [], left)[1]:
                break
            count = self.socket.send(packets[offset:] if offset else packets)
            offset = (offset + count) % len(packets)
            sent += count
        self.socket.settimeout(airs.LIMIT)
        return sent


def connected_hosts(paths: list[pathlib.Path]) -> tuple[Host, Host, int]:
    """Two hosts with a link between them, and its handle at the second."""
    first, second = Host(paths[0]), Host(paths[1])
    for host in (first, second):
        host.command(RESET)
        host.command(SET_EVENT_MASK)
    first.command(ADVERTISING_PARAMETERS)
    first.command(ADVERTISING_ENABLE)
    second.command(CREATE_CONNECTION)
    handle = 0
    for host in (first, second):
        event = host.wait_for(lambda event: event[1] == 0x3E and event[3] == 1)
        handle = int.from_bytes(event[5:7], "little")
    return first, second, handle
