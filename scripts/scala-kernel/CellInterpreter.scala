package node

import java.io.{PrintWriter, StringWriter}
import java.util.concurrent.atomic.AtomicReference

import scala.collection.mutable.ArrayBuffer
import scala.runtime.ScalaRunTime
import scala.tools.nsc.Settings
import scala.tools.nsc.interpreter.{IMain, Results}
import scala.util.{Failure, Success, Try}

import org.apache.spark.sql.SparkSession

/** The outcome of a cell. */
sealed trait CellResult

/**
 * @param definitions what the interpreter says about the names that the cell defined
 * @param value of its last statement, if that is an expression
 */
case class Done(definitions: String, value: Option[String]) extends CellResult

case class Failed(name: String, message: String, trace: Seq[String]) extends CellResult

/**
 * The interpreter of Spark's own shell, with `spark`, `sc` and the shell's imports.
 * @param jars that cells can use besides Spark's own
 * @param loader of the classes in these jars
 * @param classes folder for the classes of cells, where executors find them
 */
class CellInterpreter(jars: Seq[String], loader: ClassLoader, classes: String) {
  private val LongestValue = 1024 * 1024
  private val MostElements = 1000
  private val PollMs = 50
  /** How long code may ignore interrupts before its thread is stopped. */
  private val PatienceMs = 2000
  /** With this begin the names of the classes that the interpreter makes of cells. */
  private val ClassOfCells = "$line"
  private val printed = new StringWriter()
  private val repl: IMain = Repl.open(settings, new PrintWriter(printed))
  private val thread = new AtomicReference[Thread]()
  @volatile private var isInterrupted = false

  // Without an effect on cells: to begin the compiler takes seconds, and the first cell would wait for it.
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
    val words = List("-Yrepl-class-based", "-Yrepl-outdir", classes, "-classpath", jars.mkString(java.io.File.pathSeparator))
    settings.processArguments(words, processAll = true)
    settings.embeddedDefaults(loader)
    settings
  }

  /** Executes a cell in a thread of its own, which an interrupt can end whatever it does. */
  def run(code: String): CellResult = {
    val result = new AtomicReference[Try[CellResult]]()
    val cell = new Thread(() => result.set(Try(execute(code))), "cell")
    cell.setContextClassLoader(repl.classLoader)
    cell.setDaemon(true)
    isInterrupted = false
    thread.set(cell)
    cell.start()
    cell.join()
    // A thread that was stopped has left none.
    Option(result.get).getOrElse(Failure(new InterruptedException())).fold(failed, identity)
  }

  /**
   * Ends the code of the cell, and the jobs that it waits for: by interrupts, which most waits heed, or else as Java can still end a
   * thread that does not. The compiler is left to end first: it is for all cells, and an interrupt would leave it half way.
   */
  @annotation.nowarn("cat=deprecation")
  def interrupt(cancelJobs: () => Unit): Unit = {
    isInterrupted = true
    var patience = PatienceMs
    for (cell <- Option(thread.get)) while (cell.isAlive) {
      if (cell.getStackTrace.exists(_.getClassName.startsWith(ClassOfCells))) {
        Try(cancelJobs())
        if (patience > 0) cell.interrupt() else Try(cell.stop())
        patience -= PollMs
      }
      cell.join(PollMs)
    }
  }

  private def execute(code: String): CellResult = {
    taken()
    statementsOf(code).fold(compileError())(executeInOrder(_, Vector.empty, None))
  }

  /** Executes one statement after the other: Spark can only encode a class that an earlier one defined. */
  @annotation.tailrec
  private def executeInOrder(statements: List[String], shown: Vector[String], value: Option[String]): CellResult =
    statements match {
      case Nil => Done(shown.mkString, value)
      case _ if isInterrupted => failed(new InterruptedException())
      case statement :: others =>
        val earlier = lastException
        Console.withOut(CellOutput.out)(Console.withErr(CellOutput.err)(repl.interpret(statement))) match {
          case Results.Success =>
            val (definitions, result) = parted(statement, taken())
            executeInOrder(others, shown :+ definitions, result)
          case _ =>
            lastException.filterNot(error => earlier.exists(_ eq error)).fold(compileError())(failed)
        }
    }

  /** Splits what the interpreter said about a statement into definitions and the value of an expression. */
  private def parted(statement: String, said: String): (String, Option[String]) = {
    val name = repl.mostRecentVar
    // Scala 2.13 begins such a line with `val`.
    val ofValue = if (name.matches("res\\d+")) s"(?m)^(?:val )?$name: ".r.findFirstMatchIn(said) else None
    ofValue match {
      case Some(found) => (said.take(found.start), repl.valueOfTerm(name).map(textOf))
      // These lines say no more than the statement.
      case None if statement.startsWith("import ") => (said.linesWithSeparators.filterNot(_.startsWith("import ")).mkString, None)
      case None => (said, None)
    }
  }

  private def textOf(value: Any): String = value match {
    case text: String => text.take(LongestValue)
    case _ => ScalaRunTime.replStringOf(value, MostElements).trim.take(LongestValue)
  }

  private def lastException: Option[Throwable] =
    repl.valueOfTerm("lastException").collect { case error: Throwable => error }

  private def compileError(): CellResult = {
    val said = taken().stripTrailing
    val message = if (said.isEmpty) "The cell is incomplete." else said
    Failed("CompileError", message, Seq(message))
  }

  private def failed(error: Throwable): CellResult = {
    val written = new StringWriter()
    error.printStackTrace(new PrintWriter(written, true))
    Failed(error.getClass.getName, error.getMessage, written.toString.linesIterator.toSeq)
  }

  private def taken(): String = {
    val text = printed.toString
    printed.getBuffer.setLength(0)
    text
  }

  /** The statements of a cell, where adjacent definitions stay together, so that companions compile; None if it does not parse. */
  private def statementsOf(code: String): Option[List[String]] = {
    val global: repl.global.type = repl.global
    import global._
    case class Statement(from: Int, to: Int, defines: Boolean)
    val found = ArrayBuffer.empty[Statement]
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
          if (depth == 0) found += Statement(from, in.lastOffset, defines)
          trees
        }
      }
    }
    repl.reporter.reset()
    parser.parseStats()
    if (repl.reporter.hasErrors) return None
    val joined = found.foldLeft(List.empty[Statement]) {
      case (last :: rest, next) if last.defines && next.defines => last.copy(to = next.to) :: rest
      case (list, next) => next :: list
    }
    Some(joined.reverse.map(one => code.substring(one.from, one.to)))
  }

  def complete(code: String, cursor: Int): (Int, Seq[String]) = {
    val found = Repl.complete(repl, code, cursor)
    taken()
    found
  }

  /** `complete`, `incomplete` or `invalid`, as Jupyter calls them. */
  def completeness(code: String): String = {
    var isIncomplete = false
    val currentRun = repl.global.currentRun
    val parses = currentRun.parsing.withIncompleteHandler((_, _) => isIncomplete = true)(statementsOf(code).isDefined)
    taken()
    if (isIncomplete) "incomplete" else if (parses) "complete" else "invalid"
  }
}
