"""Runs a file of SQL as spark-sql does, but splits it into statements with Spark's own lexer.

Usage: spark-submit sql_job.py FILE [arguments of spark-sql]. In the JVM that started it, this program does what spark-sql does before its
first statement, in the same order and with the same classes, and then gives each statement to spark-sql's command line. See ADR 0056.
"""

import os
import sys

# Py4J is imported from a folder if possible: the copy in Spark's zip archive would be compiled at each start.
sys.path.sort(key=lambda entry: entry.endswith(".zip"))

from py4j.java_gateway import GatewayParameters, JavaGateway, get_field, set_field
from py4j.protocol import Py4JJavaError, Py4JNetworkError

from sql_statements import class_of, statements

CLI = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
OF_HADOOP = "spark.hadoop."

# Files can include each other with `source`, and so never end.
MAX_NESTED = 16
# Properties of Hive that Spark has already adjusted.
WAREHOUSE = "hive.metastore.warehouse.dir"
CONNECTION = "javax.jdo.option.ConnectionURL"


class CommandLine:
    """The command line of spark-sql in its JVM."""

    def __init__(self, jvm, array_of):
        self.jvm = jvm
        self.array_of = array_of
        self.system = self.type("java.lang.System")
        self.is_spark_3 = self.type("org.apache.spark.package$").__getattr__("MODULE$").SPARK_VERSION().startswith("3.")
        self.cli = None
        self.state = None

    def type(self, name):
        return class_of(self.jvm, name)

    def begin(self, words):
        """Starts its session; false if spark-sql does not accept the arguments."""
        # This sets the log level to that of the main class of an application.
        self.type("org.apache.spark.internal.Logging$").__getattr__("MODULE$").uninitialize()
        self.type(CLI + "$").__getattr__("MODULE$")
        options = self.type("org.apache.hadoop.hive.cli.OptionsProcessor")()
        if not options.process_stage1(self.array_of(words)):
            return False
        spark = self.type("org.apache.spark.SparkConf")(True)
        hadoop = self.type("org.apache.spark.deploy.SparkHadoopUtil").get().newConfiguration(spark)
        self.state = self._state(spark, hadoop)
        if not options.process_stage2(self.state):
            return False
        conf = self.state.getConf()
        conf.setClassLoader(self.type("java.lang.Thread").currentThread().getContextClassLoader())
        overridden = self.state.getOverriddenConfigurations()
        for key, value in dict(get_field(self.state, "cmdProperties")).items():
            if key != CONNECTION:
                conf.set(key, value)
                overridden.put(key, value)
        self._get_tokens(spark, hadoop)
        shared = self.type("org.apache.spark.sql.internal.SharedState")
        nothing_more = shared.__getattr__("resolveWarehousePath$default$3")()
        warehouse = shared.resolveWarehousePath(spark, conf, nothing_more)
        shared.setWarehousePathConf(spark, conf, shared.qualifyWarehousePath(conf, warehouse))
        self.type("org.apache.hadoop.hive.ql.session.SessionState").setCurrentSessionState(self.state)
        properties = self.system.getProperties()
        # A Spark property wins; a setting without one becomes a Spark property.
        settings = [(key, properties.putIfAbsent(OF_HADOOP + key, value) or value) for key, value in dict(overridden).items()]
        self._begin_spark(options.getHiveVariables(), settings)
        return True

    def run(self, path, depth=0):
        """Runs the statements of a file until one fails, and returns the exit code."""
        try:
            # Bytes that are not UTF-8 are replaced, as Java does.
            with open(path, encoding="utf-8", errors="replace", newline="") as file:
                text = file.read()
        except (OSError, ValueError) as error:
            return self.fail("The file %s cannot be read: %s" % (path, getattr(error, "strerror", None) or error))
        code = 0
        for number, (line, position, statement) in enumerate(statements(self.jvm, text), 1):
            code = self.run_statement(statement, depth)
            if code != 0 and not self.state.getConf().getBoolean("hive.cli.errors.ignore", False):
                place = "" if depth == 0 else " of %s" % path
                # The agent reads this line to say where the run failed.
                begin = "line %d pos %d" % (line, position)
                self.say("Statement %d%s, which begins at %s, failed." % (number, place, begin))
                return code
        return code

    def run_statement(self, statement, depth):
        words = statement.split(None, 1)
        if words[0].lower() != "source":
            return self.cli.processCmd(statement)
        # spark-sql itself would split the file in its own way, and ignore failures in it.
        if depth >= MAX_NESTED:
            return self.fail("More than %d files are nested with source. Check whether they include each other." % MAX_NESTED)
        path = "".join(words[1:])
        return self.run(self.type("org.apache.spark.sql.internal.VariableSubstitution")().substitute(path), depth + 1)

    def end(self, code):
        """Ends the JVM, which started this program."""
        if self.cli is not None:
            self.state.close()
        self.type(CLI).exit(code)

    def fail(self, reason):
        # Spark begins its messages about a statement with these words.
        self.say("Error in query: %s" % reason)
        return 1

    def say(self, line):
        # This process's own stderr would go to the stdout of the JVM.
        self.system.err.println(line)

    def _state(self, spark, hadoop):
        client = self.type("org.apache.spark.sql.hive.client.HiveClientImpl")
        if self.is_spark_3:
            utils = self.type("org.apache.spark.sql.hive.HiveUtils$").__getattr__("MODULE$")
            times = utils.formatTimeVarsForHiveClient(hadoop)
        else:
            times = client.__getattr__("newHiveConf$default$3")()
        conf = client.newHiveConf(spark, hadoop, times, client.__getattr__("newHiveConf$default$4")())
        state = self.type("org.apache.hadoop.hive.cli.CliSessionState")(conf)
        stream = lambda into: self.type("java.io.PrintStream")(into, True, "UTF-8")
        set_field(state, "in", self.system.__getattr__("in"))
        set_field(state, "out", stream(self.system.out))
        for name in ("info", "err"):
            set_field(state, name, stream(self.system.err))
        return state

    def _get_tokens(self, spark, hadoop):
        provider = self.type("org.apache.spark.sql.hive.security.HiveDelegationTokenProvider")()
        if not provider.delegationTokensRequired(spark, hadoop):
            return
        credentials = self.type("org.apache.hadoop.security.Credentials")()
        provider.obtainDelegationTokens(hadoop, spark, credentials)
        self.type("org.apache.hadoop.security.UserGroupInformation").getCurrentUser().addCredentials(credentials)

    def _begin_spark(self, variables, settings):
        self.cli = self.type(CLI)()
        self.cli.setHiveVariables(variables)
        conf = self.state.getConf()
        environment = self.type("org.apache.spark.sql.hive.thriftserver.SparkSQLEnv")
        session = environment.sqlContext().sparkSession() if self.is_spark_3 else environment.sparkSession()
        for jar in (conf.get("hive.aux.jars.path") or "").split(","):
            if jar.strip():
                session.sessionState().resourceLoader().addJar(jar)
        conf.setClassLoader(session.sharedState().jarClassLoader())
        for key, value in settings:
            if key != WAREHOUSE:
                session.conf().set(key, value)
        database = get_field(self.state, "database")
        if database is not None:
            session.sql("USE %s" % database)
        self.cli.processInitFiles(self.state)
        self.cli.printMasterAndAppId()


def main(path, *words):
    port, token = int(os.environ["PYSPARK_GATEWAY_PORT"]), os.environ["PYSPARK_GATEWAY_SECRET"]
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))

    def array_of(strings):
        array = gateway.new_array(gateway.jvm.String, len(strings))
        for at, text in enumerate(strings):
            array[at] = text
        return array

    line = CommandLine(gateway.jvm, array_of)
    code = 1
    try:
        if line.begin(words):
            code = line.run(path)
    except Py4JJavaError as error:
        # This is how Java reports an exception of the main thread.
        line.system.err.print('Exception in thread "main" ')
        error.java_exception.printStackTrace()
    line.end(code)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Py4JNetworkError:
        # The JVM has ended, and whatever ended it has set its exit code.
        pass
