set -eu
. .runtime/client.env

# A Hive metastore from the jars of the quickstart's Spark, with its database in memory. It listens on all addresses without authentication,
# so use it only to try things.
FOLDER=$PWD/.runtime/metastore
PORT=${METASTORE_PORT:-9083}
umask 077
mkdir -p "$FOLDER"

listens() { python3 -c 'import socket, sys; socket.create_connection(("127.0.0.1", sys.argv[1]))' "$PORT" 2>/dev/null; }
if listens; then
  echo "Port $PORT is in use. Stop the process that listens there, or set METASTORE_PORT to another port." >&2
  exit 1
fi

# The metastore, the platform and its jobs all read these two files.
python3 - "$FOLDER" "$PORT" <<'PYTHON'
import os
import sys
import time
from pathlib import Path
from xml.sax.saxutils import escape

folder, port = sys.argv[1:]
sites = {
    "hive-site.xml": {
        "hive.metastore.uris": f"thrift://127.0.0.1:{port}",
        # A metastore that is restarted does not know the earlier tables, whose files must not be in the way.
        "hive.metastore.warehouse.dir": f"s3a://{os.environ['BUCKET']}/warehouse/{int(time.time())}",
    },
    "core-site.xml": {
        "fs.s3a.endpoint": os.environ["S3_URL"],
        "fs.s3a.path.style.access": "true",
        "fs.s3a.access.key": os.environ["KEY_ID"],
        "fs.s3a.secret.key": os.environ["SECRET"],
    },
}
for name, properties in sites.items():
    lines = [f"<property><name>{key}</name><value>{escape(value)}</value></property>\n" for key, value in properties.items()]
    Path(folder, name).write_text("".join(["<configuration>\n", *lines, "</configuration>\n"]))
PYTHON

"$JAVA" -Xmx384m -cp "$FOLDER:$SPARK_JARS/*:$CONNECTORS/*" -Dhive.async.log.enabled=false -Dderby.stream.error.file=/dev/null \
  org.apache.hadoop.hive.metastore.HiveMetaStore -p "$PORT" \
  --hiveconf 'javax.jdo.option.ConnectionURL=jdbc:derby:memory:metastore;create=true' \
  --hiveconf datanucleus.schema.autoCreateAll=true --hiveconf hive.metastore.schema.verification=false \
  >"$FOLDER/metastore.log" 2>&1 &
METASTORE=$!
echo $METASTORE >"$FOLDER/pid"
until listens; do
  if ! kill -0 $METASTORE 2>/dev/null; then
    cat "$FOLDER/metastore.log" >&2
    exit 1
  fi
  sleep 1
done
echo "The metastore is at thrift://127.0.0.1:$PORT"
