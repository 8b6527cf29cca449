"""The way between the process of a run and the control plane.

Descriptor 3 is the file of what the run is asked, descriptor 4 the one of what it says; both were opened by the agent,
which reads and writes them by offset. A record has a header of 24 bytes, big-endian: magic (u32), length of the payload
(u32), number (u64), and the number of the last record of the other file that its writer has read (u64). Records of one
file are numbered from 1 without gaps; one with number 0 only tells what was read. A writer begins its file anew once it
is long and all of it was read. See ADR 0033.
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
# A longer file is begun anew once all of it was read.
LONG_FILE = 8 * 1024 * 1024
# What may lie in the file without having been taken: whoever says more waits.
MAX_UNREAD_BYTES = 64 * 1024 * 1024
READ_AT_ONCE = 256 * 1024
MIN_PAUSE = 0.002
MAX_PAUSE = 0.02
# The longest while the system tells of what is written; there are file systems of which it tells nothing.
MAX_WATCH = 0.1
IN_MODIFY = 2
PR_SET_DUMPABLE = 4
# How much is read before the other side is told of it.
TELL_EVERY = 1024 * 1024


# In the place of a record: something else.
FOREIGN = object()


class ChannelError(Exception):
    """The file of requests holds what no agent writes, or a payload is too long."""


def close_to_others():
    """Keeps the user's other processes from opening this one's descriptors through /proc, tracing it or reading its memory.

    Programs that it starts are not protected. Code that runs in this process can still use the channel.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "The process could not be protected from its user's other processes")


class Growth:
    """Waits until somebody writes to a file that is open."""

    def __init__(self, fd):
        self._pause = MIN_PAUSE
        self._events = self._watched(fd)
        self._poll = select.poll()
        if self._events is not None:
            self._poll.register(self._events, select.POLLIN)

    def reset(self):
        """Something was there: more may come soon."""
        self._pause = MIN_PAUSE

    def wait(self, seconds):
        """Waits so long at most; may end without cause."""
        if self._events is None:
            time.sleep(min(self._pause, seconds))
            self._pause = min(self._pause * 1.2, MAX_PAUSE)
        elif self._poll.poll(min(seconds, MAX_WATCH) * 1_000):
            os.read(self._events, 64 * 1024)

    @staticmethod
    def _watched(fd):
        """A descriptor of inotify; None where there is none to be had."""
        try:
            system = ctypes.CDLL(None)
            events = system.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, AttributeError):
            return None
        if events < 0:
            return None
        # By the descriptor, since the process may not open the file by its name.
        if system.inotify_add_watch(events, b"/proc/self/fd/%d" % fd, IN_MODIFY) >= 0:
            return events
        os.close(events)
        return None


class RunChannel:
    """Both directions; sending is for any thread, receiving for one."""

    def __init__(self, requests_fd=3, frames_fd=4):
        self._requests = requests_fd
        self._frames = frames_fd
        self._growth = Growth(requests_fd)
        self._lock = threading.Condition()
        self._position = 0
        # Read from the file and not yet taken: what lies behind `_at`.
        self._buffer = b""
        self._at = 0
        self._read = 0
        self._told = 0
        self._taken = 0
        self._sent = 0
        self._size = 0
        # Ends of records that have not been taken, and how many bytes each has.
        self._unread = []
        self._unread_bytes = 0
        self._closed = False
        for fd in (requests_fd, frames_fd):
            os.set_inheritable(fd, False)

    def close(self):
        """Lets whoever waits go on: `receive` answers None, `send` does nothing."""
        with self._lock:
            self._closed = True
            self._lock.notify_all()

    def send(self, *payloads):
        """Appends payloads of bytes, which are there all at once; waits while too much has not been taken."""
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
        """The next payload; None when there is none within `timeout` seconds, or once this is closed."""
        until = time.monotonic() + timeout
        while not self._closed:
            payload = self._next()
            if payload is not None:
                self._growth.reset()
                return payload
            left = until - time.monotonic()
            if left <= 0:
                return None
            self._growth.wait(left)
        return None

    def _append(self, numbered):
        """Appends payloads with their numbers."""
        if self._size > LONG_FILE and not self._unread:
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
        self._told = 0

    def _next(self):
        """The payload of the next record with a number; None when none is whole yet."""
        restarted = False
        while True:
            record = self._record()
            if record is None:
                return None
            if record is FOREIGN or record[0] > self._read + 1:
                # The file was begun anew and has grown beyond this place since, unless it is the same once more.
                if restarted or self._position == 0:
                    raise ChannelError("The file of requests holds what no agent writes.")
                self._restart()
                restarted = True
                continue
            number, taken, payload = record
            self._at += HEADER.size + len(payload)
            self._position += HEADER.size + len(payload)
            with self._lock:
                self._take(taken)
                if number != self._read + 1:
                    # It only tells what was read, or was written again by an agent that did not know.
                    continue
                self._read = number
                self._told += len(payload)
                if self._told >= TELL_EVERY:
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
        """Number, what the other side has taken, and payload of the record at the position; None when it is not whole."""
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
        """Whether so many bytes from the position on are in the buffer."""
        if len(self._buffer) - self._at >= size:
            return True
        if os.fstat(self._requests).st_size < self._position:
            self._restart()
        parts = [self._buffer[self._at :]]
        have = len(parts[0])
        while have < size:
            chunk = os.pread(self._requests, max(READ_AT_ONCE, size - have), self._position + have)
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
