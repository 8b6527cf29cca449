"""What a Python client of HiveServer2 does with a server of SQL: one line of JSON on its standard output.

Usage: sql_client.py PORT PATH ROWS, with users and their tokens as a JSON object on standard input.
"""

import json
import sys
import threading
import time

from impala.dbapi import connect

port, path, rows = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tokens = json.load(sys.stdin)
told = {}


def session(user):
    return connect(
        host="127.0.0.1",
        port=port,
        use_http_transport=True,
        http_path=path,
        auth_mechanism="PLAIN",
        user=user,
        password=tokens[user],
        timeout=120,
    )


def value_of(cursor, statement):
    cursor.execute(statement)
    return cursor.fetchall()[0][0]


def read_all(cursor):
    cursor.execute("create table big (n bigint, name string)")
    cursor.execute("insert into big select id, concat('row ', id) from range(%d)" % rows)
    cursor.set_arraysize(10_000)
    cursor.execute("select n, name from big")
    began = time.monotonic()
    count = total = 0
    while True:
        page = cursor.fetchmany(10_000)
        if not page:
            break
        count += len(page)
        total += sum(n for n, _ in page)
    told["read"] = {"rows": count, "sum": total, "seconds": round(time.monotonic() - began, 2)}


def cancel(cursor):
    cursor.execute_async("select sum(a.id * b.id) from range(10000000) a cross join range(10000000) b")
    until = time.monotonic() + 60
    while cursor.status() != "RUNNING_STATE" and time.monotonic() < until:
        time.sleep(0.05)
    cursor.cancel_operation(reset_state=False)
    while cursor.is_executing() and time.monotonic() < until:
        time.sleep(0.05)
    told["cancelled"] = cursor.status()
    # Its cores are free again.
    told["after"] = value_of(cursor, "select count(*) from range(1000)")


def beside(user, view, at):
    """One user's work on a session of their own, beside another's."""
    with session(user) as connection:
        cursor = connection.cursor()
        cursor.execute("create temporary view mine as select '%s' as of_whom" % view)
        at.wait(60)
        told[user] = [value_of(cursor, "select of_whom from mine"), value_of(cursor, "select current_user()")]


with session("ada") as connection:
    read_all(connection.cursor())
    cancel(connection.cursor())
both = threading.Barrier(2)
threads = [threading.Thread(target=beside, args=(user, "of " + user, both)) for user in ("ada", "eve")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(120)
try:
    tokens["ada"] = "nonsense"
    session("ada").cursor()
    told["refused"] = None
except Exception as error:
    told["refused"] = str(error)
print(json.dumps(told))
