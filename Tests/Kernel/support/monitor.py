"""Recording the traffic between the adapters and the kernel, or the program that has replaced it.

`btmon -w` of BlueZ 5.66 is not used, because it crashes while printing a GATT client's requests.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import pathlib
import socket
import struct
import time
from typing import BinaryIO

# From the kernel's headers. Python may have been built without Bluetooth, and never has this option of sockets.
AF_BLUETOOTH = 31
BTPROTO_HCI = 1
HCI_DEV_NONE = 0xFFFF
HCI_CHANNEL_MONITOR = 2
SO_RCVBUFFORCE = 33

# btsnoop: its timestamp of 1970-01-01, in microseconds, and the datalink type of the monitor.
ORIGIN = 0x00E0_3AB4_4A67_6000 - 946_684_800 * 1_000_000
DATALINK = 2001

# The kernel drops what does not fit; a burst arrives faster than it is written.
RECEIVE_BUFFER = 32 << 20
LONGEST_RECORD = 1 << 16


class Monitor:
    """A capture of the kernel's monitor, in BlueZ's format."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._socket: socket.socket | None = None
        self._file: BinaryIO | None = None

    async def start(self) -> None:
        monitor = socket.socket(AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_NONBLOCK, BTPROTO_HCI)
        monitor.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, RECEIVE_BUFFER)
        address = struct.pack("=HHH", AF_BLUETOOTH, HCI_DEV_NONE, HCI_CHANNEL_MONITOR)
        library = ctypes.CDLL(None, use_errno=True)
        if library.bind(monitor.fileno(), address, len(address)) != 0:
            raise OSError(ctypes.get_errno(), f"no monitor: {os.strerror(ctypes.get_errno())}")
        self._file = open(self.path, "wb")
        self._file.write(struct.pack(">8sII", b"btsnoop\0", 1, DATALINK))
        self._socket = monitor
        asyncio.get_running_loop().add_reader(monitor, self._read)

    def _read(self) -> None:
        """Takes all available records."""
        assert self._socket is not None and self._file is not None
        while True:
            try:
                # Not `recvmsg`, which would also return the time of each record: it fails because Python does not know
                # the address family.
                record = self._socket.recv(LONGEST_RECORD)
            except BlockingIOError:
                return
            opcode, adapter, length = struct.unpack_from("<HHH", record)
            now = time.time_ns() // 1000
            self._file.write(struct.pack(">IIIIQ", length, length, adapter << 16 | opcode, 0, now + ORIGIN))
            self._file.write(record[6:6 + length])

    async def stop(self) -> None:
        if self._socket is None or self._file is None:
            return
        asyncio.get_running_loop().remove_reader(self._socket)
        self._read()
        self._socket.close()
        self._file.close()
