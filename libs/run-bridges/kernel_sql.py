"""The SQL kernel of a notebook. Spark runs each statement of a cell, and the kernel shows its result as a table."""

import html
import os
import sys
import traceback
from contextlib import nullcontext

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

from spark_session import SessionStart, cancel_jobs, end_with_spark

MAX_ROWS = 1_000
MAX_CELL_LENGTH = 10_000
MAX_TABLE_BYTES = 1024 * 1024


def tables(columns, rows):
    """Returns rows, whose cells are strings, as a text table and an HTML table, and the number of rows in them."""
    texts = []
    size = 0
    for cells in rows:
        # Counts markup and padding roughly.
        size += sum(len(cell) for cell in cells) * 2 + 20 * len(cells)
        if size > MAX_TABLE_BYTES and texts:
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


def shown_rows(frame):
    """The column names, followed by the first rows as Spark itself shows them: in the time zone of the session."""
    # Only importable once the session has begun.
    from pyspark import rdd, util
    from pyspark.serializers import BatchedSerializer, CPickleSerializer

    served = frame._jdf.getRowsToPython(MAX_ROWS, MAX_CELL_LENGTH)
    # From Spark 4 on it is in another module, and in Spark 4.3 a context manager.
    load = getattr(util, "_load_from_socket", None) or rdd._load_from_socket
    loaded = load(served, BatchedSerializer(CPickleSerializer()))
    with loaded if hasattr(loaded, "__enter__") else nullcontext(loaded) as rows:
        return list(rows)


class SqlKernel(Kernel):
    implementation = "sql"
    implementation_version = "1.0"
    language = "sql"
    language_version = "3"
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
            # Only importable once the session has begun.
            from sql_statements import statements

            for number, (line, _, statement) in enumerate(statements(session._jvm, code), 1):
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
        if not frame.columns:
            return
        columns, *rows = shown_rows(frame)
        if silent:
            return
        plain, markup, count = tables(columns, rows[:MAX_ROWS])
        if count < len(rows):
            note = "The first %d rows." % count
            plain += "\n" + note
            markup += "<p>%s</p>" % note
        data = {"text/plain": plain, "text/html": markup}
        self.send_response(self.iopub_socket, "display_data", {"data": data, "metadata": {}})

    def failed(self, name, value, position, error):
        where = "" if position == (0, 0) else "Statement %d, which begins on line %d: " % position
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
