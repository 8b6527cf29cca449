"""The SQL kernel of a notebook: each statement of a cell is run by Spark, and its result shown as a table."""

import html
import os
import sys
import traceback

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from spark_session import SessionStart, cancel_jobs, end_with_spark

MOST_ROWS = 1_000
LONGEST_CELL = 10_000
LONGEST_TABLE = 1024 * 1024


def statements(text):
    """The statements of a text with the lines that they begin at, divided at semicolons outside of quotes and comments."""
    found = []
    begin = 0
    at = 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "--":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif two == "/*":
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        elif text[at] in "'\"`":
            at = behind_quote(text, at)
        else:
            if text[at] == ";":
                found.append((begin, text[begin:at]))
                begin = at + 1
            at += 1
    found.append((begin, text[begin:]))
    numbered = []
    line = 1
    counted = 0
    for begin, statement in found:
        start = begin + len(statement) - len(statement.lstrip())
        line += text.count("\n", counted, start)
        counted = start
        if without_comments(statement).strip():
            numbered.append((line, statement.strip()))
    return numbered


def behind_quote(text, at):
    quote = text[at]
    at += 1
    while at < len(text):
        if text[at] == "\\" and quote != "`":
            at += 2
        elif text[at] == quote:
            return at + 1
        else:
            at += 1
    return at


def without_comments(text):
    kept = []
    at = 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "--":
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        elif two == "/*":
            end = text.find("*/", at + 2)
            at = len(text) if end < 0 else end + 2
        else:
            kept.append(text[at])
            at += 1
    return "".join(kept)


def shown(value):
    text = "NULL" if value is None else str(value)
    return text if len(text) <= LONGEST_CELL else text[:LONGEST_CELL] + "…"


def tables(columns, rows):
    """The rows as a table of text and one of HTML, and how many of them are in it."""
    texts = []
    size = 0
    for row in rows:
        cells = [shown(value) for value in row]
        # Markup, and the width of the columns, come on top.
        size += sum(len(cell) for cell in cells) * 2 + 20 * len(cells)
        if size > LONGEST_TABLE and texts:
            break
        texts.append(cells)
    widths = [min(max([len(name)] + [len(row[at]) for row in texts]), 100) for at, name in enumerate(columns)]
    line = lambda cells: " | ".join(cell.ljust(widths[at]) for at, cell in enumerate(cells)).rstrip()
    plain = [line(columns), "-+-".join("-" * width for width in widths)] + [line(row) for row in texts]
    row_of = lambda cells, tag: "<tr>%s</tr>" % "".join(
        "<%s>%s</%s>" % (tag, html.escape(cell), tag) for cell in cells
    )
    markup = "<table><thead>%s</thead><tbody>%s</tbody></table>" % (
        row_of(columns, "th"),
        "".join(row_of(row, "td") for row in texts),
    )
    return "\n".join(plain), markup, len(texts)


class SqlKernel(Kernel):
    implementation = "sql"
    implementation_version = "1.0"
    language = "sql"
    language_version = "3.5"
    language_info = {"name": "sql", "mimetype": "text/x-sql", "file_extension": ".sql"}
    banner = "Spark SQL"

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.start_of_session = SessionStart(end_with_spark())
        self.is_set = False

    def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        position = (0, 0)
        try:
            session = self.spark()
            for number, (line, statement) in enumerate(statements(code), 1):
                position = (number, line)
                self.show(session.sql(statement), silent)
        except KeyboardInterrupt as error:
            cancel_jobs()
            return self.failed("KeyboardInterrupt", "Interrupted", position, error)
        except Exception as error:
            return self.failed(type(error).__name__, str(error), position, error)
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }

    def spark(self):
        session = self.start_of_session.wait()
        if not self.is_set and session.conf.get("spark.sql.catalogImplementation") == "in-memory":
            # Without a metastore there are no tables of Hive: those that name no format are Spark's own.
            session.conf.set("spark.sql.legacy.createHiveTableByDefault", "false")
        self.is_set = True
        return session

    def show(self, frame, silent):
        columns = frame.columns
        rows = frame.take(MOST_ROWS + 1)
        if silent or not columns:
            return
        plain, markup, count = tables(columns, rows[:MOST_ROWS])
        if count < len(rows):
            note = "The first %d rows." % count
            plain += "\n" + note
            markup += "<p>%s</p>" % note
        data = {"text/plain": plain, "text/html": markup}
        self.send_response(self.iopub_socket, "display_data", {"data": data, "metadata": {}})

    def failed(self, name, value, position, error):
        where = "" if position == (0, 0) else "Statement %d, which begins in line %d: " % position
        reason = where + value.split("\n\nJVM stacktrace")[0].strip()
        content = {"ename": name, "evalue": reason, "traceback": [reason]}
        if name not in ("KeyboardInterrupt", "AnalysisException", "ParseException"):
            print("".join(traceback.format_exception(type(error), error, error.__traceback__)), file=sys.__stderr__)
        self.send_response(self.iopub_socket, "error", content)
        return dict(content, status="error", execution_count=self.execution_count)

    def do_is_complete(self, code):
        return {"status": "complete"}


def main():
    app = IPKernelApp.instance(kernel_class=SqlKernel, capture_fd_output=False)
    app.initialize(sys.argv[1:])
    # The sockets have been made, with names within the folder before.
    os.chdir(os.environ.pop("KERNEL_WORK"))
    app.start()


if __name__ == "__main__":
    main()
