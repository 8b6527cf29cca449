"""Fetches rows from the server of SQL without losing any: if rows are wide, it requests fewer than the client does.

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
# Expected size of the requested rows. It leaves room because the next rows may be wider than the last.
PAGE_BYTES = 8 * MIB
# Rows of the first page of a result, and the maximum growth factor from page to page.
FIRST_ROWS = 100
GROWTH = 10

LOST = "A fetch has failed, and the server cannot return its rows again. Fetch from the first row, or execute the statement again."
TOO_LONG = (
    "Row %d of the result has %d bytes; a response may have %d (32 MiB). Select less of its longest column, such as a part of it by "
    "substring. The next fetch starts after this row."
)


class TooLong(Exception):
    """The server has responded with more bytes than a response may have."""

    def __init__(self, size):
        super().__init__("The response has %d bytes; at most %d are allowed." % (size, MAX_RESPONSE_BYTES))
        self.size = size


class Cursor:
    """The position in the results of one statement. A thread that fetches holds the operation's turn."""

    def __init__(self):
        # Number of rows to request from the server.
        self._rows = FIRST_ROWS
        # Number of the row after the last page.
        self._next = 0
        # True if the position of the server is unknown.
        self._lost = False

    def fetch(self, ask, message, fetch):
        """Returns the response to a fetch; `ask` sends a message to the server. Rows that do not fit are left to the next fetch, except for
        a single row that is too long."""
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
                    # From now on the previous rows are the next ones.
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
        """Skips a single row that is too long, and returns the error for its client."""
        row = self._next + 1 if begin == NEXT else 1
        self._next = row
        self._lost = False
        return Refused(TOO_LONG % (row, size, MAX_RESPONSE_BYTES), LIMIT_EXCEEDED)

    def _go_back(self, ask, fetch):
        """Moves the server to the end of the last page, whatever it did with the failed fetch."""
        self._lost = True
        begin = self._begin_of_page(ask, fetch)
        try:
            # The server is at an earlier page unless it has started another.
            if begin is not None and begin < self._next:
                page = Page(ask(fetch.asking(NEXT, self._next - begin)))
                begin = None if page.begin is None else page.begin + page.count
        except Exception:
            # The client receives the first failure.
            return
        self._lost = begin != self._next

    @staticmethod
    def _begin_of_page(ask, fetch):
        """Moves the server to the start of its last page. Returns the number of that row; None if the server cannot."""
        try:
            return Page(ask(fetch.asking(PRIOR, 0))).begin
        except Exception:
            return None
