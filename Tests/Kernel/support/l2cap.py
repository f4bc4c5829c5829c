"""The kernel's L2CAP sockets: the fixed channel of ATT, with a required level of security, and credit-based channels."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pathlib
import socket
import struct

from support.monitor import AF_BLUETOOTH

# From the kernel's headers.
BTPROTO_L2CAP = 0
SOL_BLUETOOTH = 274
BT_SECURITY = 4
BT_RCVMTU = 13
BT_MODE = 15
LE_FLOWCTL, EXT_FLOWCTL = 0x03, 0x04
LOW, MEDIUM, HIGH, FIPS = 1, 2, 3, 4
BDADDR_LE_PUBLIC = 1
ATT_CHANNEL = 4
LIBRARY = ctypes.CDLL(None, use_errno=True)


def socket_address(address: str, psm: int = 0, channel: int = 0) -> bytes:
    octets = bytes.fromhex(address.replace(":", ""))[::-1]
    return struct.pack("=HH6sHBx", AF_BLUETOOTH, psm, octets, channel, BDADDR_LE_PUBLIC)


def call(function: ctypes._NamedFuncPointer, handle: socket.socket, name: bytes) -> None:
    if function(handle.fileno(), name, len(name)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def accept(handle: socket.socket) -> socket.socket:
    """Accepts without reading the address, whose family Python may not know."""
    number = LIBRARY.accept(handle.fileno(), None, None)
    if number < 0:
        raise OSError("no connection")
    return socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP, fileno=number)


class AttributeSocket:
    """A socket whose packets are ATT PDUs. It blocks, in a thread."""

    def __init__(self, handle: socket.socket) -> None:
        self.socket = handle

    @classmethod
    def of(cls, local: str, level: int) -> AttributeSocket:
        """A socket on one of BlueZ's adapters."""
        handle = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP)
        result = cls(handle)
        result.require(level)
        result._call(LIBRARY.bind, local)
        return result

    def _call(self, function: ctypes._NamedFuncPointer, address: str) -> None:
        call(function, self.socket, socket_address(address, channel=ATT_CHANNEL))

    async def connect(self, peer: str) -> None:
        """Connects. The kernel opens a fixed channel before the link has the required level."""
        await asyncio.to_thread(self._call, LIBRARY.connect, peer)

    async def accept(self) -> AttributeSocket:
        """Waits for a link."""
        return AttributeSocket(await asyncio.to_thread(accept, self.socket))

    def require(self, level: int) -> None:
        """Requires a level from now on. If the link has a lower one, the kernel raises it."""
        self.socket.setsockopt(SOL_BLUETOOTH, BT_SECURITY, struct.pack("=BB", level, 0))

    def listen(self) -> None:
        self.socket.listen(1)

    async def receive(self) -> bytes:
        return await asyncio.to_thread(self.socket.recv, 517)

    async def send(self, pdu: bytes) -> None:
        await asyncio.to_thread(self.socket.send, pdu)

    async def request(self, pdu: bytes) -> bytes:
        """The response to a request. Other PDUs that arrive meanwhile are not answered."""
        await self.send(pdu)
        while True:
            received = await self.receive()
            if not received or received[0] in (0x01, pdu[0] + 1):
                return received

    def close(self) -> None:
        self.socket.close()


def enable_enhanced_channels(is_on: bool) -> None:
    """Enables enhanced credit-based channels, which are off by default."""
    pathlib.Path("/sys/module/bluetooth/parameters/enable_ecred").write_text("Y" if is_on else "N")


def channel_socket(local: str, mode: int, mtu: int, psm: int = 0) -> socket.socket:
    """A socket for a credit-based channel, on one of BlueZ's adapters."""
    handle = socket.socket(AF_BLUETOOTH, socket.SOCK_SEQPACKET, BTPROTO_L2CAP)
    call(LIBRARY.bind, handle, socket_address(local, psm))
    if mode != LE_FLOWCTL:
        handle.setsockopt(SOL_BLUETOOTH, BT_MODE, struct.pack("=B", mode))
    handle.setsockopt(SOL_BLUETOOTH, BT_RCVMTU, struct.pack("=H", mtu))
    return handle


async def exchange(handle: socket.socket, octets: bytes, size: int) -> bytes:
    """Sends octets, in SDUs of at most the given size, while it receives the same number."""

    def send() -> None:
        for start in range(0, len(octets), size):
            handle.send(octets[start:start + size])

    def receive() -> bytes:
        received = b""
        while len(received) < len(octets) and (sdu := handle.recv(65535)):
            received += sdu
        return received

    _, received = await asyncio.gather(asyncio.to_thread(send), asyncio.to_thread(receive))
    return received
