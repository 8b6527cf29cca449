"""Pages of results that the server of SQL was asked for before their client did: whose they are, and who gets them.

Every page that is read is given out once: to the pod that has claimed it, or to a call that came all the same. Locks of
`ReadAhead` are short, and `turn` is never taken by the thread that reads the channel: who holds it may wait for that thread.
See ADR 0038.
"""

import collections
import hashlib
import threading
import time

from thrift_messages import without_sequence
from thrift_pages import Cursor

MIB = 1024 * 1024
# Of equal fetches in a row, with the one that was answered last.
EQUAL_FETCHES = 2
# A shorter page suggests that it was the last one; bytes.
LARGE_PAGE = 8 * 1024
# Pages ahead of one operation, and of all; what those have, and how many may be on their way at once.
MAX_PER_OPERATION = 8
MAX_PAGES = 500
MAX_BYTES = 32 * MIB
MAX_CONCURRENT_READS = 8
# Seconds between two looks for operations that are not used.
LOOK_EVERY = 60


def key_of(user, message):
    """What a fetch and its repetitions have in common, and nobody else's; the API makes the same of what a client sends."""
    return hashlib.sha256(user.encode("utf-8", "replace") + b"\0" + without_sequence(message)).hexdigest()


class Page:
    """An answer that nobody has had. One without an id is known to nobody else: it says that a fetch has failed."""

    def __init__(self, key, body):
        self.id = None
        self.key = key
        self.body = body
        self.said = False
        self.dropped = False


class Operation:
    """The results of one statement, as far as they were fetched."""

    def __init__(self, handle, user, used):
        self.handle = handle
        self.user = user
        # Held by whoever asks the server for rows.
        self.turn = threading.Lock()
        self.cursor = Cursor()
        self.used = used
        self.closed = False
        # The last fetch of its client, how often it came in a row, and how long the last page from the server was.
        self.message = b""
        self.key = None
        self.times = 0
        self.size = 0
        # Unclaimed, the oldest first.
        self.pages = collections.deque()
        self.reading = False


class ReadAhead:
    """What is ahead of all operations."""

    def __init__(self, idle, clock=time.monotonic):
        self._lock = threading.Lock()
        self._idle = idle
        self._clock = clock
        self._operations = {}
        # By id, for claims.
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
        """The oldest page that nobody has had; from now on it is the caller's."""
        with self._lock:
            return self._take(operation, operation.pages[0]) if operation.pages else None

    def fetched(self, operation, message, key, size):
        """Notes a fetch of the next rows; the size is that of a page from the server, None for one that was ahead."""
        with self._lock:
            operation.times = operation.times + 1 if operation.key == key else 1
            operation.key = key
            operation.message = message
            operation.size = operation.size if size is None else size

    def unusual(self, operation):
        """A fetch came that is not of the next rows: reading ahead begins anew."""
        with self._lock:
            operation.key = None
            operation.times = 0

    def claimed(self, page_ids):
        """Forgets pages that pods have given to their clients; the operations of those that were not forgotten yet."""
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
        """Whether the caller shall read a page ahead; if so, `end` must follow."""
        with self._lock:
            if (
                operation.reading
                or not self._is_wanted(operation)
                or self._count + self._reading >= MAX_PAGES
                # The next page is taken to be as long as the last one.
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
        """Whether there shall be another page ahead, once the caller's turn has come."""
        with self._lock:
            return self._is_wanted(operation)

    @staticmethod
    def _is_wanted(operation):
        return (
            not operation.closed
            and operation.times >= EQUAL_FETCHES
            and operation.size >= LARGE_PAGE
            # The longer somebody goes on, the further.
            and len(operation.pages) < min(operation.times, MAX_PER_OPERATION)
            # A pod finds the pages of one key only.
            and all(page.key == operation.key for page in operation.pages)
        )

    def add(self, operation, body, is_failure):
        """Keeps what was read ahead; None if its operation was closed meanwhile."""
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
                # Nothing is read behind it.
                operation.size = 0
            operation.pages.append(page)
            self._count += 1
            self._bytes += len(body)
            return page

    def said(self, page):
        """Notes that the page is known; whether it has been dropped meanwhile, which whoever knows it has not been told."""
        with self._lock:
            page.said = True
            return page.dropped

    def drop_pages(self, operation):
        """Forgets what is ahead; the ids that are known elsewhere."""
        with self._lock:
            return self._drop_pages(operation)

    def close(self, handles):
        """Forgets operations that are closed; the ids that are known elsewhere."""
        with self._lock:
            return self._close(handles)

    def close_idle(self):
        """The same, now and then, for those that nobody has used for so long that the server has closed them."""
        with self._lock:
            now = self._clock()
            if now - self._looked < LOOK_EVERY:
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
