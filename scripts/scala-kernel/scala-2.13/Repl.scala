package node

import java.io.PrintWriter

import scala.reflect.internal.util.{CodeAction, Position}
import scala.tools.nsc.Settings
import scala.tools.nsc.interpreter.IMain
import scala.tools.nsc.interpreter.shell.{ReplCompletion, ReplReporterImpl, ShellConfig}

/** Hides what differs between the interpreters of Scala 2.12 and 2.13. */
object Repl {
  def open(settings: Settings, out: PrintWriter): IMain = new IMain(settings, new CellReporter(settings, out))

  /** Returns the position from which a candidate replaces the text before the cursor, and the candidates. */
  def complete(repl: IMain, code: String, cursor: Int): (Int, Seq[String]) = {
    val found = new ReplCompletion(repl).complete(code, cursor, filter = true)
    (found.cursor, found.candidates.map(_.name).distinct)
  }

  /** Shows the line of each problem: that of a shell leaves out a line that stands above it already. */
  private class CellReporter(settings: Settings, out: PrintWriter)
      extends ReplReporterImpl(ShellConfig(settings), settings, out) {
    override def doReport(position: Position, message: String, severity: Severity, actions: List[CodeAction]): Unit =
      printMessage(Position.formatMessage(position, s"${severity.toString.toLowerCase}: $message", shortenFile = true))
  }
}
