package node

import java.io.PrintWriter

import scala.tools.nsc.Settings
import scala.tools.nsc.interpreter.{IMain, PresentationCompilerCompleter}

/** Hides what differs between the interpreters of Scala 2.12 and 2.13. */
object Repl {
  def open(settings: Settings, out: PrintWriter): IMain = new IMain(settings, out)

  /** Returns the position from which a candidate replaces the text before the cursor, and the candidates. */
  def complete(repl: IMain, code: String, cursor: Int): (Int, Seq[String]) = {
    val found = new PresentationCompilerCompleter(repl).complete(code, cursor)
    (found.cursor, found.candidates)
  }
}
