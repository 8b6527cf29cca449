package org.apache.spark.warm

import java.io.{File, FileDescriptor, FileInputStream}
import java.lang.ProcessBuilder.Redirect
import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.Properties
import javax.management.{JMException, ObjectName}
import org.apache.hadoop.fs.FileSystem
import org.apache.hadoop.security.UserGroupInformation
import org.apache.spark.SparkEnv
import org.apache.spark.api.python.PythonUtils
import org.apache.spark.deploy.SparkSubmit
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.Utils

/**
 * A driver that is started before its run is known. The arguments are those of a `spark-submit` that rehearses: it loads and compiles
 * what each driver needs. Then the traces of the rehearsal are removed, and the JVM waits until the agent of the node hands a run over.
 * From then on it is the run's driver, and it ends with it.
 *
 * It learns its folders from variables that start with `WARM_DRIVER_`, which are gone once a run is handed over:
 * `PIPE`, a named pipe with one byte once there is a run; `ASSIGNMENT`, the file that describes the run; `READY`, the file that
 * it creates when it waits; `EMPTIED`, the folders that the rehearsal may leave files in; `JAR`, the jar with this class; `PYTHON`
 * and `ZYGOTE`, the interpreter and the program that forks Python drivers. Descriptors 3 and 4 are the files of the run's channel. The
 * program opens them, and the JVM closes them before there is a run, because the code of the run could open what the JVM has open.
 *
 * An assignment is a sequence of records that end in NUL: `E<name>=<value>` is a variable, `D<name>=<value>` a system property, `B<word>` a
 * word of a program that runs first, `A<word>` an argument of `spark-submit`, and `I` says that the log has only what Spark's shells log.
 */
object WarmDriver {
  private val Prefix = "WARM_DRIVER_"
  private val ClassPath = "java.class.path"
  private val Channel = Seq(3, 4)

  /** Set by the JVM and a library when they are first used, and not again. */
  private val SetOnce = Seq("jetty.git.hash", "user.timezone")

  def main(rehearsal: Array[String]): Unit = {
    val settings = Settings.take()
    val properties = System.getProperties.clone().asInstanceOf[Properties]
    val loader = Thread.currentThread().getContextClassLoader
    startZygote(settings)
    SparkSubmit.main(rehearsal)
    Channel.foreach(closeInherited)
    forgetRehearsal()
    settings.emptied.foreach(empty)
    restore(properties, settings.jar)
    Thread.currentThread().setContextClassLoader(loader)
    System.gc()
    trimNativeHeap()
    Files.write(settings.ready, Array.emptyByteArray)
    awaitRun(settings.pipe)
    val run = Assignment.read(settings.assignment)
    setEnvironment(run.environment)
    run.properties.foreach { case (name, value) => System.setProperty(name, value) }
    System.setProperty("sun.java.command", (SparkSubmit.getClass.getName.stripSuffix("$") +: run.arguments).mkString(" "))
    // The rehearsal has set up logging as a job needs it.
    if (run.isShell) new ShellLog().begin()
    runFirst(run.before)
    SparkSubmit.main(run.arguments.toArray)
  }

  private case class Settings(
      pipe: File,
      assignment: File,
      ready: java.nio.file.Path,
      emptied: Seq[File],
      jar: String,
      zygote: Option[Seq[String]])

  private object Settings {
    def take(): Settings = {
      def setting(name: String) = Option(System.getenv(Prefix + name)).filter(_.nonEmpty)
      def required(name: String) = setting(name).getOrElse(sys.error(s"$Prefix$name is not set"))
      Settings(
        new File(required("PIPE")),
        new File(required("ASSIGNMENT")),
        Paths.get(required("READY")),
        required("EMPTIED").split(':').map(new File(_)).toSeq,
        required("JAR"),
        for (python <- setting("PYTHON"); program <- setting("ZYGOTE")) yield Seq(python, program, "channel"))
    }
  }

  private case class Assignment(
      environment: Seq[(String, String)],
      properties: Seq[(String, String)],
      before: Seq[String],
      arguments: Seq[String],
      isShell: Boolean)

  private class ShellLog extends Logging {
    def begin(): Unit = initializeForcefully(isInterpreter = true, silent = false)
  }

  private object Assignment {
    def read(file: File): Assignment = {
      val records = new String(Files.readAllBytes(file.toPath), UTF_8).split('\u0000').toSeq.filter(_.nonEmpty)
      def of(kind: Char) = records.filter(_.head == kind).map(_.tail)
      def pairs(kind: Char) = of(kind).map { record =>
        val at = record.indexOf('=')
        record.take(at) -> record.drop(at + 1)
      }
      Assignment(pairs('E'), pairs('D'), of('B'), of('A'), of('I').nonEmpty)
    }
  }

  /** Gives memory back that the compilers have freed, which the allocator of the system keeps. Nothing else does so before the run. */
  private def trimNativeHeap(): Unit =
    try {
      val commands = new ObjectName("com.sun.management:type=DiagnosticCommand")
      val server = ManagementFactory.getPlatformMBeanServer
      server.invoke(commands, "systemTrimNativeHeap", Array[AnyRef](Array.empty[String]), Array(classOf[Array[String]].getName))
    } catch {
      // Old releases of Java and systems without glibc have no such command.
      case _: JMException =>
    }

  /** Sets the system properties to what they would be in a driver that is not started ahead. */
  private def restore(properties: Properties, jar: String): Unit = {
    SetOnce.foreach(name => Option(System.getProperty(name)).foreach(properties.setProperty(name, _)))
    properties.setProperty(ClassPath, properties.getProperty(ClassPath).stripSuffix(s":$jar"))
    System.setProperties(properties)
  }

  /** Its input ends when this JVM ends, and with it the process. */
  private def startZygote(settings: Settings): Unit = settings.zygote.foreach { command =>
    val builder = new ProcessBuilder(command: _*).redirectOutput(Redirect.INHERIT).redirectError(Redirect.INHERIT)
    builder.environment().put("PYTHONPATH", PythonUtils.sparkPythonPath)
    builder.start()
  }

  /** Spark opens the package. */
  private def closeInherited(number: Int): Unit = {
    val made = classOf[FileDescriptor].getDeclaredConstructor(Integer.TYPE)
    made.setAccessible(true)
    new FileInputStream(made.newInstance(Integer.valueOf(number))).close()
  }

  private def forgetRehearsal(): Unit = {
    SparkSession.clearActiveSession()
    SparkSession.clearDefaultSession()
    SparkEnv.set(null)
    FileSystem.closeAll()
    // A local session keeps its secret in the credentials of the user, which Spark prefers to the secret of the run.
    UserGroupInformation.reset()
    // They name folders that are deleted next.
    Utils.clearLocalRootDirs()
  }

  /** Spark 4 makes the folder of its artifacts once, so it is kept. It is as empty as in a driver that is not started ahead. */
  private def empty(folder: File): Unit =
    Option(folder.listFiles()).toSeq.flatten.filterNot(_.getName.startsWith("artifacts-")).foreach(Utils.deleteRecursively)

  /** Opening waits for the agent. An agent that dies before it has written does not hand a run over. */
  private def awaitRun(pipe: File): Unit = {
    var isHandedOver = false
    while (!isHandedOver) {
      val input = new FileInputStream(pipe)
      try isHandedOver = input.read() >= 0
      finally input.close()
    }
  }

  /**
   * The environment of a JVM is read once, and everything that asks for it later sees this map. Spark opens both packages. The variables
   * that the scripts of Spark set are kept.
   */
  private def setEnvironment(variables: Seq[(String, String)]): Unit = {
    val field = Class.forName("java.util.Collections$UnmodifiableMap").getDeclaredField("m")
    field.setAccessible(true)
    val environment = field.get(System.getenv()).asInstanceOf[java.util.Map[String, String]]
    environment.keySet().toArray(Array.empty[String]).filter(_.startsWith(Prefix)).foreach(environment.remove(_))
    variables.foreach { case (name, value) => environment.put(name, value) }
  }

  private def runFirst(command: Seq[String]): Unit = if (command.nonEmpty) {
    val builder = new ProcessBuilder(command: _*).inheritIO()
    // The environment is passed on only if the builder has been asked for it.
    builder.environment()
    val code = builder.start().waitFor()
    if (code != 0) System.exit(code)
  }
}
