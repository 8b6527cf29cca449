"""Uses a SQL server as a Python client of HiveServer2 does, and prints its findings as one line of JSON.

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
    # This succeeds only if the cancelled statement has freed its cores.
    told["after"] = value_of(cursor, "select count(*) from range(1000)")


def read_wide(cursor):
    """Reads rows so wide that a response holds fewer than requested, and one that fits into no response."""
    cursor.set_arraysize(1_000)
    cursor.execute("select id, repeat('x', 50000) from range(1000)")
    wide = cursor.fetchall()
    cursor.execute("select id, if(id = 1, repeat('x', 40000000), 'x') from range(3)")
    cursor.fetchone()
    refused = None
    try:
        cursor.fetchone()
    except Exception as error:
        refused = str(error)
    characters = sum(len(text) for _, text in wide)
    told["wide"] = {"rows": len(wide), "characters": characters, "refused": refused, "behind": [n for n, _ in cursor]}


def look_around(cursor):
    cursor.execute("create table if not exists columns_of (a int, b array<string>) using parquet")
    cursor.get_databases()
    told["schemas"] = [name for name, *_ in cursor.fetchall()]
    told["columns"] = [name for name, _ in cursor.get_table_schema("columns_of")]


def set_zone(cursor):
    """Checks that a setting of one session does not apply to another session of the same user."""
    cursor.execute("set spark.sql.session.timeZone=Asia/Tokyo")
    with session("ada") as connection:
        other = connection.cursor()
        told["zones"] = [value_of(one, "select current_timezone()") for one in (cursor, other)]


def beside(user, view, at):
    """Works in a session of one user while another user works in theirs."""
    with session(user) as connection:
        cursor = connection.cursor()
        cursor.execute("create temporary view mine as select '%s' as of_whom" % view)
        at.wait(60)
        told[user] = [value_of(cursor, "select of_whom from mine"), value_of(cursor, "select current_user()")]


with session("ada") as connection:
    read_all(connection.cursor())
    cancel(connection.cursor())
    read_wide(connection.cursor())
    look_around(connection.cursor())
    set_zone(connection.cursor())
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
