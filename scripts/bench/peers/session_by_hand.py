"""A session of Spark without a platform. Input lines are commands, and each gets one output line, all in JSON.

With SPARK_REMOTE in the environment the session is one of a server of Spark Connect, otherwise Spark starts for it here.
"""

import json
import sys

from pyspark.sql import SparkSession


def evaluate(code):
    """Evaluates an expression over `spark` and returns its text."""
    return {"text": repr(eval(code, {"spark": spark}))}


spark = SparkSession.builder.appName("peers").getOrCreate()
for line in sys.stdin:
    command, *words = json.loads(line)
    try:
        answer = {"evaluate": evaluate}[command](*words)
    except Exception as error:
        answer = {"error": "%s: %s" % (type(error).__name__, error)}
    print(json.dumps(answer), flush=True)
spark.stop()
