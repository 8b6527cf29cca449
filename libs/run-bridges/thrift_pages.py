"""Fetches of rows from the server of SQL, of which none is lost: where rows are wide, it is asked for fewer than its client wants.

See ADR 0038.
"""

from thrift_messages import (
    FIRST,
    INVALID_CURSOR,
    LIMIT_EXCEEDED,
    NEXT,
    PRIOR,
    Page,
    Refused,
)

MIB = 1024 * 1024
MAX_RESPONSE_BYTES = 32 * MIB
# Of which the rows are asked for that are expected to fit: the next ones may be wider than the last.
PAGE_BYTES = 8 * MIB
# Rows of the first page of a result, and how many times as many the next page may have.
FIRST_ROWS = 100
GROWTH = 10

LOST = "A fetch has failed, and the server cannot give its rows again. Fetch from the first row, or execute the statement again."
TOO_LONG = (
    "Row %d of the result has %d bytes; an answer may have %d (32 MiB). Select less of its longest column, such as a part of it by "
    "substring. The next fetch begins behind this row."
)


class TooLong(Exception):
    """The server has answered with more bytes than an answer may have."""

    def __init__(self, size):
        super().__init__("The answer has %d bytes; it may have %d." % (size, MAX_RESPONSE_BYTES))
        self.size = size


class Cursor:
    """Where the results of one statement are fetched; whoever fetches holds the operation's turn."""

    def __init__(self):
        # How many rows the server is asked for.
        self._rows = FIRST_ROWS
        # The number of the row behind the last page.
        self._next = 0
        # Whether nobody knows where the server is.
        self._lost = False

    def fetch(self, ask, message, fetch):
        """The answer to a fetch; `ask` has the server answer a message. Rows that are asked for and not given are left to the next
        fetch, but for one that is too long by itself."""
        if fetch.rows <= 0:
            return ask(message)
        if self._lost and fetch.begin != FIRST:
            raise Refused(LOST, INVALID_CURSOR)
        begin = fetch.begin
        while True:
            rows = min(fetch.rows, self._rows)
            try:
                answer = ask(message if (begin, rows) == (fetch.begin, fetch.rows) else fetch.asking(begin, rows))
            except TooLong as error:
                if begin == PRIOR:
                    # From now on they are the next ones.
                    begin, self._next = NEXT, self._begin_of_page(ask, fetch)
                    self._lost = self._next is None
                elif rows == 1:
                    raise self._too_long(begin, error.size) from None
                elif begin == NEXT:
                    self._go_back(ask, fetch)
                if self._lost:
                    raise Refused(LOST, INVALID_CURSOR) from None
                self._rows = max(1, min(rows // 2, rows * PAGE_BYTES // error.size))
            except Exception:
                if begin == FIRST:
                    self._lost = True
                else:
                    self._go_back(ask, fetch)
                raise
            else:
                page = Page(answer)
                self._note(page, begin, rows, len(answer))
                return page.with_more() if rows < fetch.rows else answer

    def _note(self, page, begin, rows, size):
        if page.begin is None:
            return
        self._lost = begin == NEXT and page.begin != self._next
        if self._lost:
            raise Refused(LOST, INVALID_CURSOR)
        self._next = page.begin + page.count
        if page.count > 0:
            fitting = PAGE_BYTES * page.count // size
            self._rows = max(1, min(fitting, max(self._rows, rows * GROWTH)))

    def _too_long(self, begin, size):
        """Passes over a row that is too long by itself; what its client is told."""
        row = self._next + 1 if begin == NEXT else 1
        self._next = row
        self._lost = False
        return Refused(TOO_LONG % (row, size, MAX_RESPONSE_BYTES), LIMIT_EXCEEDED)

    def _go_back(self, ask, fetch):
        """Has the server go on behind the last page, whatever it has made of the fetch that failed."""
        self._lost = True
        begin = self._begin_of_page(ask, fetch)
        try:
            # It is an earlier page if the server has not begun another.
            if begin is not None and begin < self._next:
                page = Page(ask(fetch.asking(NEXT, self._next - begin)))
                begin = None if page.begin is None else page.begin + page.count
        except Exception:
            # The failure that is told is the one before.
            return
        self._lost = begin != self._next

    @staticmethod
    def _begin_of_page(ask, fetch):
        """Has the server go to where its last page began; which row that is, None where it cannot."""
        try:
            return Page(ask(fetch.asking(PRIOR, 0))).begin
        except Exception:
            return None
