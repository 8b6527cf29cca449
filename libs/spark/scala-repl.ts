import { withoutByteOrderMark } from '../json/byte-order-mark';

/** A file that the agent writes into a run's folder before it starts the run. */
export interface GeneratedFile {
  path: string;
  content: string;
  /** True if the file is executed. */
  isProgram?: boolean;
}

/** A source with more is refused: compiling each statement takes at least a tenth of a second. */
const MAX_STATEMENTS = 10_000;

/** Returns a Scala string literal. Every escape of JSON is also one of Scala. */
const literal = (text: string): string => JSON.stringify(text);

/**
 * Returns the files that make the Spark interpreter run `source` statement by statement and exit with 0 only after the last. The
 * driver script is itself an input of the interpreter: it stops at the first statement that does not compile or throws, which neither
 * `:load` nor `:paste` does, and sends the interpreter's own output to stderr. The interpreter's greeting precedes the first
 * statement's output in stdout; its length goes to `beginFile`, so that readers can leave it out.
 */
export function scalaReplFiles(
  source: string,
  args: string[],
  paths: { dir: string; beginFile: string },
): { script: string; files: GeneratedFile[] } {
  const script = `${paths.dir}/driver.scala`;
  const sourceFile = `${paths.dir}/source.scala`;
  return {
    script,
    files: [
      { path: sourceFile, content: withoutByteOrderMark(source) },
      { path: script, content: driverScript({ ...paths, sourceFile, args }) },
    ],
  };
}

/**
 * Scala that defines `statementsOf(source): Seq[(Int, String)]`: the inputs of the interpreter in order, each with the line (from 1)
 * where it starts. Scala's own parser finds where each ends; its errors go to the interpreter's reporter. Each value or expression
 * stands alone, as if typed into spark-shell: Spark can only encode a class that an earlier input defined, and closures then carry no
 * more than they use. Adjacent definitions stay together, so that companions and sealed families compile.
 */
export const STATEMENTS_OF = `
  def statementsOf(source: String): Seq[(Int, String)] = {
    // Scala 2.13 declares it by its public interface, which has less.
    val repl = $intp.asInstanceOf[scala.tools.nsc.interpreter.IMain]
    val global: repl.global.type = repl.global
    import global._
    case class Statement(from: Int, to: Int, defines: Boolean)
    val unit = new CompilationUnit(newSourceFile(source, "source.scala"))
    val found = scala.collection.mutable.ArrayBuffer.empty[Statement]
    object parser extends syntaxAnalyzer.UnitParser(unit) {
      private var depth = 0
      private def usual = super.templateStat
      override def templateStat: PartialFunction[Int, List[Tree]] = new PartialFunction[Int, List[Tree]] {
        private val inner = usual
        def isDefinedAt(token: Int) = inner.isDefinedAt(token)
        def apply(token: Int) = {
          val from = in.offset
          depth += 1
          val trees = try inner(token) finally depth -= 1
          if (depth == 0) found += Statement(from, in.lastOffset, trees.forall {
            case _: ImplDef | _: DefDef | _: TypeDef | _: Import => true
            case _ => false
          })
          trees
        }
      }
    }
    parser.parseStats()
    val joined = found.foldLeft(List.empty[Statement]) {
      case (last :: rest, next) if last.defines && next.defines => last.copy(to = next.to) :: rest
      case (list, next) => next :: list
    }
    joined.reverse.map { s => (unit.source.offsetToLine(s.from) + 1, source.substring(s.from, s.to)) }
  }`;

function driverScript({
  beginFile,
  sourceFile,
  args,
}: {
  beginFile: string;
  sourceFile: string;
  args: string[];
}): string {
  return `{${STATEMENTS_OF}
  def writersOf(owner: AnyRef): List[AnyRef] =
    Iterator.iterate[Class[_]](owner.getClass)(_.getSuperclass).takeWhile(_ != null)
      .flatMap(_.getDeclaredFields.toList)
      .filter(field => classOf[java.io.PrintWriter].isAssignableFrom(field.getType))
      .map { field => field.setAccessible(true); field.get(owner) }.filter(_ != null).toList
  try {
    val sink = classOf[java.io.PrintWriter].getDeclaredField("out")
    sink.setAccessible(true)
    for (writer <- writersOf($intp) ++ writersOf($intp.reporter))
      sink.set(writer, new java.io.OutputStreamWriter(java.lang.System.err))
  } catch { case _: Throwable => }
  java.lang.System.out.flush()
  val begin = java.nio.file.Paths.get(${literal(beginFile)})
  val draft = java.nio.file.Paths.get(${literal(`${beginFile}.tmp`)})
  java.nio.file.Files.write(draft, java.nio.file.Files.size(java.nio.file.Paths.get("/dev/fd/1")).toString.getBytes)
  java.nio.file.Files.move(draft, begin, java.nio.file.StandardCopyOption.ATOMIC_MOVE)
  def end(problem: Option[String]): Nothing = {
    problem.foreach(java.lang.System.err.println)
    java.lang.System.out.flush()
    java.lang.System.exit(if (problem.isEmpty) 0 else 1)
    throw new IllegalStateException
  }
  def runs(code: String) = {
    val repl = $intp.asInstanceOf[scala.tools.nsc.interpreter.IMain]
    var result = ""
    repl.beQuietDuring { result = repl.interpret(code).toString }
    result == "Success"
  }
  val source = new String(java.nio.file.Files.readAllBytes(java.nio.file.Paths.get(${literal(sourceFile)})), "UTF-8")
  val statements = statementsOf(source)
  if ($intp.reporter.hasErrors) end(Some("The source is not Scala."))
  if (statements.size > ${MAX_STATEMENTS}) end(Some("The source has " + statements.size + " statements; at most ${MAX_STATEMENTS} are run."))
  if (!runs(${literal(`val args: Array[String] = Array(${args.map(literal).join(', ')})`)})) end(Some("The arguments cannot be used."))
  end(statements.find { case (_, code) => !runs(code) }.map { case (line, _) => "The statement at line " + line + " failed." })
}
`;
}
