"""What a client process leaves behind for the judge: a file of records of one size, each written at
once, so that a process that is killed leaves whole records, and at most one part of one, which the
next process of that client cuts off."""

import os
import struct

_RECORD = struct.Struct("<BQQQ")
_PAYLOAD = struct.Struct("<IQ")  # writer, request

ACK, SAMPLE, GAP = 1, 2, 3
WHERE = ".where"  # behind a journal's name: what its client does, for a person
END_WRITER = 0xFFFFFFFF  # of the sample behind all others
NO_POSITION = (1 << 64) - 1  # the relay has forgotten where


def payload(writer, request):
    return _PAYLOAD.pack(writer, request)


def writer_and_request(data):
    return _PAYLOAD.unpack(data)


class Journal:
    """Of one client, over all its processes. ACK: writer, request, position. SAMPLE: epoch,
    position, writer and request. GAP: epoch, from, to."""

    def __init__(self, path):
        self._path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        size = os.fstat(self._fd).st_size
        os.ftruncate(self._fd, size - size % _RECORD.size)

    def last(self):
        """The last record, or None."""
        size = os.fstat(self._fd).st_size
        if size == 0:
            return None
        return _RECORD.unpack(os.pread(self._fd, _RECORD.size, size - _RECORD.size))

    def say_where(self, text):
        """In the place of what was said before."""
        beside = self._path + WHERE + ".new"
        with open(beside, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(beside, self._path + WHERE)  # whoever reads it never finds half of it

    def add(self, kind, first, second, third):
        os.write(self._fd, _RECORD.pack(kind, first, second, third))


def read(path):
    """All whole records of a journal; none if the client never wrote one."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return []
    whole = len(data) - len(data) % _RECORD.size
    return list(_RECORD.iter_unpack(data[:whole]))


def packed(writer, request):
    return writer << 32 | request


def unpacked(both):
    return both >> 32, both & 0xFFFFFFFF
