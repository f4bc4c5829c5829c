"""The kernel's L2CAP sockets on the fixed channel of ATT, with a required level of security."""

from __future__ import annotations

import asyncio
import ctypes
import os
import socket
import struct

from support.monitor import AF_BLUETOOTH

# From the kernel's headers.
BTPROTO_L2CAP = 0
SOL_BLUETOOTH = 274
BT_SECURITY = 4
LOW, MEDIUM, HIGH, FIPS = 1, 2, 3, 4
BDADDR_LE_PUBLIC = 1
ATT_CHANNEL = 4
LIBRARY = ctypes.CDLL(None, use_errno=True)


class AttributeSocket:
    """A socket whose packets are ATT PDUs. It blocks, in a thread, where nothing else may be done meanwhile."""

    def __init__(self, handle: socket.socket) -> None:
        self.socket = handle

    @classmethod
    def of(cls, local: str, level: int) -> AttributeSocket:
        """A socket of an adapter of BlueZ's."""
        handle = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP)
        result = cls(handle)
        result.require(level)
        result._call(LIBRARY.bind, local)
        return result

    def _call(self, function: ctypes._NamedFuncPointer, address: str) -> None:
        octets = bytes.fromhex(address.replace(":", ""))[::-1]
        name = struct.pack("=HH6sHBx", AF_BLUETOOTH, 0, octets, ATT_CHANNEL, BDADDR_LE_PUBLIC)
        if function(self.socket.fileno(), name, len(name)) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    async def connect(self, peer: str) -> None:
        """Connects. The kernel opens a fixed channel before the link has the level."""
        await asyncio.to_thread(self._call, LIBRARY.connect, peer)

    async def accept(self) -> AttributeSocket:
        """Waits for a link."""
        # Python's own would read the address, of a family it may not know.
        number = await asyncio.to_thread(LIBRARY.accept, self.socket.fileno(), None, None)
        if number < 0:
            raise OSError("no connection")
        return AttributeSocket(socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP, fileno=number))

    def require(self, level: int) -> None:
        """Requires a level from here on: where the link has less, the kernel sees to that."""
        self.socket.setsockopt(SOL_BLUETOOTH, BT_SECURITY, struct.pack("=BB", level, 0))

    def listen(self) -> None:
        self.socket.listen(1)

    async def receive(self) -> bytes:
        return await asyncio.to_thread(self.socket.recv, 517)

    async def send(self, pdu: bytes) -> None:
        await asyncio.to_thread(self.socket.send, pdu)

    async def request(self, pdu: bytes) -> bytes:
        """The response to a request; what else comes meanwhile is not answered."""
        await self.send(pdu)
        while True:
            received = await self.receive()
            if not received or received[0] in (0x01, pdu[0] + 1):
                return received

    def close(self) -> None:
        self.socket.close()
