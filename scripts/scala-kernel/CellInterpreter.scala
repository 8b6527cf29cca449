package node

import java.io.{PrintWriter, StringWriter}

import scala.collection.mutable.ArrayBuffer
import scala.concurrent.{Await, Promise}
import scala.concurrent.duration.Duration
import scala.runtime.ScalaRunTime
import scala.tools.nsc.Settings
import scala.tools.nsc.interpreter.{IMain, Results}
import scala.util.Try

import org.apache.spark.sql.SparkSession

/** The outcome of a cell. */
sealed trait CellResult

/** @param value of its last statement, if that is an expression */
case class Done(value: Option[String]) extends CellResult

case class Failed(name: String, message: String, trace: Seq[String]) extends CellResult

/** @param line of the cell at which the statement begins, from 1 */
case class Statement(line: Int, code: String) {
  /** The code after empty lines, so that Scala 2.13 counts lines as the cell does. */
  def afterEmptyLines: String = "\n" * (line - 1) + code
}

/**
 * The interpreter of Spark's own shell, with `spark`, `sc` and the shell's imports.
 * @param jars that cells can use besides Spark's own
 * @param loader of the classes in these jars
 * @param classes folder for the classes of cells, where executors find them
 */
class CellInterpreter(jars: Seq[String], loader: ClassLoader, classes: String) {
  private val MaxValueLength = 1024 * 1024
  private val MaxElements = 1000
  private val PollMs = 50
  /** The compiler is recursive. */
  private val StackBytes = 8L * 1024 * 1024
  /** Time in which code may end by an interrupt, and then by a stop of its thread. */
  private val GracePeriodMs = 2000
  /** Prefix of the class names that the interpreter gives to cells. */
  private val CellClassPrefix = "$line"
  private val printed = new StringWriter()
  private val repl: IMain = Repl.open(settings, new PrintWriter(printed))
  private var running: Option[RunningCell] = None

  // Starting the compiler takes seconds, which the first cell would otherwise wait for.
  Seq(
    // A lazy value, unlike a function, can be imported from.
    s"@transient lazy val spark: ${classOf[SparkSession].getName} = node.NotebookSession.await()",
    "@transient lazy val sc: org.apache.spark.SparkContext = spark.sparkContext",
    "import spark.implicits._",
    "import spark.sql",
    "import org.apache.spark.sql.functions._",
    "import node.{NotebookKernel => kernel}",
  ).foreach(line => repl.beQuietDuring(repl.interpret(line)))

  private def settings: Settings = {
    val settings = new Settings(problem => throw new IllegalArgumentException(problem))
    settings.usejavacp.value = true
    // A summary of deprecations recommends commands that only the shell has.
    val words = List("-Wconf:cat=deprecation:s", "-Yrepl-class-based", "-Yrepl-outdir", classes, "-classpath", jars.mkString(java.io.File.pathSeparator))
    settings.processArguments(words, processAll = true)
    settings.embeddedDefaults(loader)
    settings
  }

  /**
   * Executes a cell in a thread of its own, which an interrupt can end.
   * @param show prints what a statement defined
   * @param isInterrupted is true once the cell was interrupted, perhaps before it began
   */
  def run(code: String, show: String => Unit, isInterrupted: () => Boolean): CellResult = {
    val cell = new RunningCell(code, show, isInterrupted)
    // Before it begins, so that an interrupt finds it.
    synchronized { running = Some(cell) }
    try cell.result()
    // Waits for an interrupt under way, which would cancel the jobs of the next cell.
    finally synchronized { running = None }
  }

  /** Ends the cell that runs, if it is one that was interrupted. */
  def interrupt(cancelJobs: () => Unit): Unit = synchronized {
    running.filter(_.isInterrupted()).foreach(_.interrupt(cancelJobs))
  }

  private class RunningCell(code: String, show: String => Unit, val isInterrupted: () => Boolean) {
    private val ended = Promise[CellResult]()
    private val thread = new Thread(null, () => end(), "cell", StackBytes)
    thread.setContextClassLoader(repl.classLoader)
    thread.setDaemon(true)

    def result(): CellResult = {
      thread.start()
      Await.result(ended.future, Duration.Inf)
    }

    // Errors of the compiler, such as StackOverflowError, are fatal to Try.
    private def end(): Unit =
      ended.trySuccess(
        try execute()
        catch { case error: Throwable => failed(error) },
      )

    /**
     * Ends the code of the cell, and the jobs that it waits for: by interrupts, which most waits heed, or else as Java can still end a
     * thread that does not. The compiler is left to end first: it is for all cells, and an interrupt would leave it half way. Code
     * that outlasts all of this, such as a wait for a monitor, is left behind.
     */
    @annotation.nowarn("cat=deprecation")
    def interrupt(cancelJobs: () => Unit): Unit = {
      var leftMs = 2 * GracePeriodMs
      while (!ended.isCompleted && leftMs > 0) {
        if (thread.getStackTrace.exists(_.getClassName.startsWith(CellClassPrefix))) {
          Try(cancelJobs())
          if (leftMs > GracePeriodMs) thread.interrupt() else Try(thread.stop())
          leftMs -= PollMs
        }
        Try(Await.ready(ended.future, Duration(PollMs, "ms")))
      }
      if (!ended.isCompleted) {
        CellOutput.err.println("The code of the cell could not be ended and may still run. Restart the kernel.")
        ended.trySuccess(failed(new InterruptedException()))
      }
    }

    private def execute(): CellResult = {
      takeOutput()
      statementsOf(code).fold(compileError(None))(executeInOrder(_, None))
    }

    /** Executes one statement after the other: Spark can only encode a class that an earlier one defined. */
    @annotation.tailrec
    private def executeInOrder(left: List[Statement], value: Option[String]): CellResult =
      left match {
        case Nil => Done(value)
        case _ if isInterrupted() => failed(new InterruptedException())
        case statement :: others =>
          // Its variable is a new one each time, even if the exception is not.
          val earlier = repl.symbolOfTerm("lastException")
          Console.withOut(CellOutput.out)(Console.withErr(CellOutput.err)(repl.interpret(statement.afterEmptyLines))) match {
            case Results.Success =>
              val (definitions, result) = splitOutput(statement.code, takeOutput())
              show(definitions)
              executeInOrder(others, result)
            case _ if repl.symbolOfTerm("lastException") == earlier => compileError(Some(statement))
            case _ => lastException.fold(compileError(Some(statement)))(failed)
          }
      }
  }

  /** Splits what the interpreter said about a statement into definitions and the value of an expression. */
  private def splitOutput(statement: String, said: String): (String, Option[String]) = {
    val name = repl.mostRecentVar
    // Scala 2.13 begins such a line with `val`.
    val ofValue = if (name.matches("res\\d+")) s"(?m)^(?:val )?$name: ".r.findFirstMatchIn(said) else None
    ofValue match {
      case Some(found) => (said.take(found.start), repl.valueOfTerm(name).map(format))
      // These lines say no more than the statement.
      case None if statement.startsWith("import ") => (said.linesWithSeparators.filterNot(_.startsWith("import ")).mkString, None)
      case None => (said, None)
    }
  }

  private def format(value: Any): String = value match {
    case text: String => text.take(MaxValueLength)
    case _ => ScalaRunTime.replStringOf(value, MaxElements).trim.take(MaxValueLength)
  }

  private def lastException: Option[Throwable] =
    repl.valueOfTerm("lastException").collect { case error: Throwable => error }

  /** @param statement that does not compile; None if the cell as a whole does not parse */
  private def compileError(statement: Option[Statement]): CellResult = {
    val said = takeOutput().stripTrailing
    // Scala 2.12 counts lines of its own.
    val where = statement.filter(_.line > 1).map(one => s"In the statement at line ${one.line} of the cell:\n")
    val message = where.getOrElse("") + (if (said.isEmpty) "The code is incomplete." else said)
    Failed("CompileError", message, Seq(message))
  }

  private def failed(error: Throwable): CellResult = {
    val written = new StringWriter()
    // These are methods of the cell if it defined the class.
    val message = try error.getMessage catch { case _: Throwable => null }
    try error.printStackTrace(new PrintWriter(written, true)) catch { case _: Throwable => () }
    Failed(error.getClass.getName, message, written.toString.linesIterator.toSeq)
  }

  /** Returns what the interpreter has printed since the last call. */
  private def takeOutput(): String = {
    val text = printed.toString
    printed.getBuffer.setLength(0)
    text
  }

  /** The statements of a cell, where adjacent definitions stay together, so that companions compile; None if it does not parse. */
  private def statementsOf(code: String): Option[List[Statement]] = {
    val global: repl.global.type = repl.global
    import global._
    case class Found(from: Int, to: Int, defines: Boolean)
    val found = ArrayBuffer.empty[Found]
    val unit = new CompilationUnit(newSourceFile(code, "cell.scala"))
    object parser extends syntaxAnalyzer.UnitParser(unit) {
      private var depth = 0
      private def usual = super.templateStat
      override def templateStat: PartialFunction[Int, List[Tree]] = new PartialFunction[Int, List[Tree]] {
        private val inner = usual
        def isDefinedAt(token: Int): Boolean = inner.isDefinedAt(token)
        def apply(token: Int): List[Tree] = {
          val from = in.offset
          depth += 1
          val trees = try inner(token) finally depth -= 1
          val defines = trees.forall {
            case _: ImplDef | _: DefDef | _: TypeDef | _: Import => true
            case _ => false
          }
          if (depth == 0) found += Found(from, in.lastOffset, defines)
          trees
        }
      }
    }
    repl.reporter.reset()
    parser.parseStats()
    if (repl.reporter.hasErrors) return None
    val joined = found.foldLeft(List.empty[Found]) {
      case (last :: rest, next) if last.defines && next.defines => last.copy(to = next.to) :: rest
      case (list, next) => next :: list
    }
    Some(joined.reverse.map(one => Statement(unit.source.offsetToLine(one.from) + 1, code.substring(one.from, one.to))))
  }

  def complete(code: String, cursor: Int): (Int, Seq[String]) = {
    val found = Repl.complete(repl, code, cursor)
    takeOutput()
    found
  }

  /** `complete`, `incomplete` or `invalid`, as Jupyter calls them. */
  def completeness(code: String): String = {
    var isIncomplete = false
    val currentRun = repl.global.currentRun
    val parses = currentRun.parsing.withIncompleteHandler((_, _) => isIncomplete = true)(statementsOf(code).isDefined)
    takeOutput()
    if (isIncomplete) "incomplete" else if (parses) "complete" else "invalid"
  }
}
