"""The channel between the process of a run and the control plane.

Descriptor 3 is the file of requests, descriptor 4 the file of frames. The agent opened both, and reads and writes them by offset. A
record has a header of 24 bytes, big-endian: magic (u32), length of the payload (u32), number (u64), and the number of the last record
of the other file that its writer has read (u64). The records of one file are numbered from 1 without gaps. A record with number 0 only
acknowledges. A writer truncates its file once it is long and all of it was read. See ADR 0033.
"""

import ctypes
import os
import select
import struct
import threading
import time

MAGIC = 0x52434831
HEADER = struct.Struct(">IIQQ")
MAX_PAYLOAD_BYTES = 16 * 1024 * 1024
# A longer file is truncated once all of it was read.
TRUNCATE_ABOVE_BYTES = 8 * 1024 * 1024
# Maximum size of unread records. Senders wait while there are more.
MAX_UNREAD_BYTES = 64 * 1024 * 1024
READ_BYTES = 256 * 1024
MIN_PAUSE = 0.002
MAX_PAUSE = 0.02
# Maximum wait for a notification of the system. Some file systems send none.
MAX_WAIT = 0.1
IN_MODIFY = 2
PR_SET_DUMPABLE = 4
# Bytes read before they are acknowledged to the other side.
ACKNOWLEDGE_EVERY_BYTES = 1024 * 1024


# Stands for data that are not a record.
FOREIGN = object()


class ChannelError(Exception):
    """The file of requests has data that no agent writes, or a payload is too long."""


def close_to_others():
    """Keeps the user's other processes from opening this one's descriptors through /proc, tracing it or reading its memory.

    Its child processes are not protected. Code that runs in this process can still use the channel.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The process could not be protected from its user's other processes")


class WriteWatch:
    """Waits until a process writes to an open file."""

    def __init__(self, fd):
        self._pause = MIN_PAUSE
        self._events = self._watched(fd)
        self._poll = select.poll()
        if self._events is not None:
            self._poll.register(self._events, select.POLLIN)

    def reset(self):
        """Shortens the pause after a write, because more may follow soon."""
        self._pause = MIN_PAUSE

    def wait(self, seconds):
        """Waits for at most this time; may return early."""
        if self._events is None:
            time.sleep(min(self._pause, seconds))
            self._pause = min(self._pause * 1.2, MAX_PAUSE)
        elif self._poll.poll(min(seconds, MAX_WAIT) * 1_000):
            os.read(self._events, 64 * 1024)

    @staticmethod
    def _watched(fd):
        """Returns a descriptor of inotify; None if it is not available."""
        try:
            system = ctypes.CDLL(None)
            events = system.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, AttributeError):
            return None
        if events < 0:
            return None
        # Watches the descriptor, because the process may not open the file by name.
        if system.inotify_add_watch(events, b"/proc/self/fd/%d" % fd, IN_MODIFY) >= 0:
            return events
        os.close(events)
        return None


class RunChannel:
    """Both directions of the channel. Any thread can send; one thread receives."""

    def __init__(self, requests_fd=3, frames_fd=4):
        self._requests = requests_fd
        self._frames = frames_fd
        self._write_watch = WriteWatch(requests_fd)
        self._lock = threading.Condition()
        self._position = 0
        # Bytes read from the file; those from `_at` on are not processed yet.
        self._buffer = b""
        self._at = 0
        self._read = 0
        self._unacknowledged_bytes = 0
        self._taken = 0
        self._sent = 0
        self._size = 0
        # Numbers and sizes of the records that the other side has not read.
        self._unread = []
        self._unread_bytes = 0
        self._closed = False
        for fd in (requests_fd, frames_fd):
            os.set_inheritable(fd, False)

    def close(self):
        """Wakes waiting threads: `receive` returns None, `send` does nothing."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()

    def send(self, *payloads):
        """Appends payloads together. Waits while the other side has too many unread records."""
        for payload in payloads:
            if len(payload) > MAX_PAYLOAD_BYTES:
                raise ChannelError("A payload of %d bytes is too long." % len(payload))
        with self._lock:
            while self._unread_bytes > MAX_UNREAD_BYTES and not self._closed:
                self._lock.wait(1)
            if self._closed:
                return
            self._append([(self._sent + at, payload) for at, payload in enumerate(payloads, 1)])
            self._sent += len(payloads)

    def receive(self, timeout):
        """Returns the next payload; None if there is none within `timeout` seconds, or once the channel is closed."""
        until = time.monotonic() + timeout
        while not self._closed:
            payload = self._next()
            if payload is not None:
                self._write_watch.reset()
                return payload
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._write_watch.wait(left)
        return None

    def _append(self, numbered):
        """Appends payloads with their numbers."""
        if self._size > TRUNCATE_ABOVE_BYTES and not self._unread:
            os.ftruncate(self._frames, 0)
            self._size = 0
        parts = []
        for number, payload in numbered:
            parts += (HEADER.pack(MAGIC, len(payload), number, self._read), payload)
            size = HEADER.size + len(payload)
            self._size += size
            if number > 0:
                self._unread.append((number, size))
                self._unread_bytes += size
        view = memoryview(b"".join(parts))
        while view:
            view = view[os.write(self._frames, view) :]
        self._unacknowledged_bytes = 0

    def _next(self):
        """Returns the payload of the next record with a number; None if none is complete."""
        restarted = False
        while True:
            record = self._record()
            if record is None:
                return None
            if record is FOREIGN or record[0] > self._read + 1:
                # The file may have been truncated and grown beyond this position, so it is read once more from its start.
                if restarted or self._position == 0:
                    raise ChannelError("The file of requests has data that no agent writes.")
                self._restart()
                restarted = True
                continue
            number, taken, payload = record
            self._at += HEADER.size + len(payload)
            self._position += HEADER.size + len(payload)
            with self._lock:
                self._take(taken)
                if number != self._read + 1:
                    # The record only acknowledges, or a restarted agent wrote it again.
                    continue
                self._read = number
                self._unacknowledged_bytes += len(payload)
                if self._unacknowledged_bytes >= ACKNOWLEDGE_EVERY_BYTES:
                    self._append([(0, b"")])
            return payload

    def _take(self, taken):
        if taken <= self._taken:
            return
        self._taken = taken
        done = 0
        for number, size in self._unread:
            if number > taken:
                break
            self._unread_bytes -= size
            done += 1
        del self._unread[:done]
        self._lock.notify_all()

    def _record(self):
        """Returns the number, the acknowledged number and the payload of the record at the position; None if it is incomplete."""
        if not self._fill(HEADER.size):
            return None
        magic, length, number, taken = HEADER.unpack_from(self._buffer, self._at)
        if magic != MAGIC or length > MAX_PAYLOAD_BYTES:
            return FOREIGN
        if not self._fill(HEADER.size + length):
            return None
        begin = self._at + HEADER.size
        return number, taken, bytes(self._buffer[begin : begin + length])

    def _fill(self, size):
        """Returns True if the buffer has this many bytes from the position on."""
        if len(self._buffer) - self._at >= size:
            return True
        if os.fstat(self._requests).st_size < self._position:
            self._restart()
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < size:
            chunk = os.pread(self._requests, max(READ_BYTES, size - have), self._position + have)
            if not chunk:
                break
            parts.append(chunk)
            have += len(chunk)
        self._buffer = b"".join(parts)
        self._at = 0
        return have >= size

    def _restart(self):
        self._position = 0
        self._buffer = b""
        self._at = 0
