"""Prefetched pages of results: requested from the server of SQL before their client does.

Every page is returned once: to the pod that has claimed it, or to a call that arrived nevertheless. Locks of `ReadAhead` are short. The
thread that reads the channel never takes `turn`, because the holder of `turn` may wait for that thread. See ADR 0038.
"""

import collections
import hashlib
import threading
import time

from thrift_messages import without_sequence
from thrift_pages import Cursor

MIB = 1024 * 1024
# Number of equal fetches in a row, including the last, before pages are prefetched.
EQUAL_FETCHES = 2
# A shorter page was probably the last one; bytes.
MIN_FULL_PAGE_BYTES = 8 * 1024
# Maximum number of prefetched pages of one operation and of all, their total bytes, and the reads in progress.
MAX_PER_OPERATION = 8
MAX_PAGES = 500
MAX_BYTES = 32 * MIB
MAX_CONCURRENT_READS = 8
# Seconds between two checks for unused operations.
CHECK_INTERVAL = 60


def key_of(user, message):
    """Returns a key that only a user's fetch and its repetitions share. The API computes the same from the message of a client."""
    return hashlib.sha256(user.encode("utf-8", "replace") + b"\0" + without_sequence(message)).hexdigest()


class Page:
    """A response that no client has received. One without an id, a failed fetch, is only known here."""

    def __init__(self, key, body):
        self.id = None
        self.key = key
        self.body = body
        self.said = False
        self.dropped = False


class Operation:
    """The results of one statement, and the progress of its fetches."""

    def __init__(self, handle, user, used):
        self.handle = handle
        self.user = user
        # Held by the thread that requests rows from the server.
        self.turn = threading.Lock()
        self.cursor = Cursor()
        self.used = used
        self.closed = False
        # The client's last fetch, its number of repetitions, and the length of the server's last page.
        self.message = b""
        self.key = None
        self.times = 0
        self.size = 0
        # Unclaimed pages, the oldest first.
        self.pages = collections.deque()
        self.reading = False


class ReadAhead:
    """The prefetched pages of all operations."""

    def __init__(self, idle, clock=time.monotonic):
        self._lock = threading.Lock()
        self._idle = idle
        self._clock = clock
        self._operations = {}
        # Operation and page by the id of the page, for claims.
        self._pages = {}
        self._count = 0
        self._bytes = 0
        self._reading = 0
        self._last = 0
        self._looked = clock()

    def operation(self, handle, user):
        with self._lock:
            if handle not in self._operations:
                self._operations[handle] = Operation(handle, user, self._clock())
            found = self._operations[handle]
            found.used = self._clock()
            return found

    def next_page(self, operation):
        """Removes and returns the oldest prefetched page; None if there is none."""
        with self._lock:
            return self._take(operation, operation.pages[0]) if operation.pages else None

    def fetched(self, operation, message, key, size):
        """Records a fetch of the next rows. `size` is the length of the server's page; None for a prefetched page."""
        with self._lock:
            operation.times = operation.times + 1 if operation.key == key else 1
            operation.key = key
            operation.message = message
            operation.size = operation.size if size is None else size

    def unusual(self, operation):
        """Resets the prefetch after a fetch that does not continue with the next rows."""
        with self._lock:
            operation.key = None
            operation.times = 0

    def claimed(self, page_ids):
        """Removes pages that pods have sent to their clients. Returns the operations of the pages that were still here."""
        operations = {}
        with self._lock:
            for page_id in page_ids:
                operation, page = self._pages.get(page_id, (None, None))
                if operation is None:
                    continue
                self._take(operation, page)
                operation.times += 1
                operation.used = self._clock()
                operations[operation.handle] = operation
        return operations.values()

    def begin(self, operation):
        """Returns True if the caller must prefetch a page, and then call `end`."""
        with self._lock:
            if (
                operation.reading
                or not self._is_wanted(operation)
                or self._count + self._reading >= MAX_PAGES
                # Assumes that the next page is as long as the last one.
                or self._bytes + (self._reading + 1) * operation.size > MAX_BYTES
                or self._reading >= MAX_CONCURRENT_READS
            ):
                return False
            operation.reading = True
            self._reading += 1
            return True

    def end(self, operation):
        with self._lock:
            operation.reading = False
            self._reading -= 1

    def is_wanted(self, operation):
        """Returns True if another page must be prefetched. To be called by the holder of the turn."""
        with self._lock:
            return self._is_wanted(operation)

    @staticmethod
    def _is_wanted(operation):
        return (
            not operation.closed
            and operation.times >= EQUAL_FETCHES
            and operation.size >= MIN_FULL_PAGE_BYTES
            # The longer a client continues, the more pages are prefetched.
            and len(operation.pages) < min(operation.times, MAX_PER_OPERATION)
            # A pod finds only the pages of one key.
            and all(page.key == operation.key for page in operation.pages)
        )

    def add(self, operation, body, is_failure):
        """Adds a prefetched page; None if its operation was closed meanwhile."""
        with self._lock:
            if operation.closed:
                return None
            page = Page(operation.key, body)
            if not is_failure:
                self._last += 1
                page.id = "ahead-%d" % self._last
                self._pages[page.id] = (operation, page)
                operation.size = len(body)
            else:
                # No page is prefetched after a failure.
                operation.size = 0
            operation.pages.append(page)
            self._count += 1
            self._bytes += len(body)
            return page

    def said(self, page):
        """Marks the page as sent. Returns True if it was dropped meanwhile, which the receiver does not know yet."""
        with self._lock:
            page.said = True
            return page.dropped

    def drop_pages(self, operation):
        """Drops the prefetched pages. Returns the ids of those that were sent."""
        with self._lock:
            return self._drop_pages(operation)

    def close(self, handles):
        """Drops closed operations. Returns the ids of their pages that were sent."""
        with self._lock:
            return self._close(handles)

    def close_idle(self):
        """Drops, from time to time, operations that the server has closed because they were unused."""
        with self._lock:
            now = self._clock()
            if now - self._looked < CHECK_INTERVAL:
                return []
            self._looked = now
            idle = [
                handle for handle, one in self._operations.items() if not one.reading and now - one.used >= self._idle
            ]
            return self._close(idle)

    def _close(self, handles):
        ids = []
        for handle in handles:
            operation = self._operations.pop(handle, None)
            if operation is not None:
                operation.closed = True
                ids += self._drop_pages(operation)
        return ids

    def _drop_pages(self, operation):
        dropped = list(operation.pages)
        for page in dropped:
            page.dropped = True
            self._take(operation, page)
        return [page.id for page in dropped if page.said]

    def _take(self, operation, page):
        operation.pages.remove(page)
        self._pages.pop(page.id, None)
        self._count -= 1
        self._bytes -= len(page.body)
        return page
