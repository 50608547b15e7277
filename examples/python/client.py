"""Calls a server of this library over `unix`, from docs/wire-formats.md alone: client.py NAME REQUEST..."""
import os
import socket
import stat
import struct
import sys

MAGIC = 0x31435049
MESSAGE, REQUEST, REPLY, FAULT = 1, 2, 3, 4
HEADER = struct.Struct("<IIII")  # magic, length of the payload, kind, id


def private_folder():
    """Where the sockets are ("Names on Linux")."""
    for folder in (os.environ.get("XDG_RUNTIME_DIR", ""), f"/run/user/{os.geteuid()}"):
        if not os.path.isabs(folder) or not os.path.isdir(folder):
            continue
        status = os.stat(folder)
        if status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return os.path.join(folder, "ipc")
    return f"/tmp/ipc-{os.geteuid()}"


class Channel:
    """One connection. One thread at a time; `close` ends it."""

    def __init__(self, name, timeout_seconds):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout_seconds)
        self._socket.connect(os.path.join(private_folder(), "unix-" + name))
        # Both ends refuse whoever is another user.
        process, user, group = struct.unpack("iII", self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if user != os.geteuid():
            raise PermissionError(f"{name} belongs to user {user}")
        self._id = 0

    def call(self, request):
        self._id = self._id % 0xFFFFFFFF + 1
        self._socket.sendall(HEADER.pack(MAGIC, len(request), REQUEST, self._id) + request)
        while True:
            magic, length, kind, number = HEADER.unpack(self._read(HEADER.size))
            if magic != MAGIC:
                raise ConnectionError("the peer speaks something else")
            payload = self._read(length)
            if number != self._id:
                continue  # the late answer to a call that timed out
            if kind == FAULT:
                raise RuntimeError(payload.decode())
            return payload

    def close(self):
        self._socket.close()

    def _read(self, size):
        data = bytearray()
        while len(data) < size:
            part = self._socket.recv(size - len(data))
            if not part:
                raise ConnectionError("the server closed the connection")
            data += part
        return bytes(data)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: client.py NAME REQUEST...")
    channel = Channel(sys.argv[1], timeout_seconds=1)
    for text in sys.argv[2:]:
        try:
            print(f"{text}: {channel.call(text.encode()).decode()}")
        except RuntimeError as failure:
            print(f"{text}: {failure}")
    channel.close()
