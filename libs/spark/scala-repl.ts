import type { ScalaChunk } from './scala-statements';

/** A file the agent writes into a run's folder before it starts the run. */
export interface GeneratedFile {
  path: string;
  content: string;
}

/** A Scala string literal; every escape of JSON is one of Scala. */
const literal = (text: string): string => JSON.stringify(text);

/**
 * Files that make the Spark interpreter run `chunks` one after the other and end with 0 only after the last. The
 * driver script is itself an input of the interpreter: it stops at the first chunk that does not compile or throws,
 * which neither `:load` nor `:paste` does, and sends the interpreter's own words to stderr. What stdout held before
 * the user's first statement is greeting; its length goes to `beginFile`, so that readers can leave it out.
 */
export function scalaReplFiles(
  chunks: ScalaChunk[],
  args: string[],
  paths: { dir: string; stdout: string; beginFile: string },
): { script: string; files: GeneratedFile[] } {
  const inputs = [{ line: 0, code: `val args: Array[String] = Array(${args.map(literal).join(', ')})` }, ...chunks];
  const script = `${paths.dir}/driver.scala`;
  return {
    script,
    files: [
      ...inputs.map(({ line, code }, order) => ({
        path: `${paths.dir}/${String(order).padStart(7, '0')}-${line}.scala`,
        content: code,
      })),
      { path: script, content: driverScript(paths) },
    ],
  };
}

function driverScript(paths: { dir: string; stdout: string; beginFile: string }): string {
  return `{
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
  val begin = java.nio.file.Paths.get(${literal(paths.beginFile)})
  val draft = java.nio.file.Paths.get(${literal(`${paths.beginFile}.tmp`)})
  java.nio.file.Files.write(draft, java.nio.file.Files.size(java.nio.file.Paths.get(${literal(paths.stdout)})).toString.getBytes)
  java.nio.file.Files.move(draft, begin, java.nio.file.StandardCopyOption.ATOMIC_MOVE)
  val chunks = new java.io.File(${literal(paths.dir)}).listFiles.filter(_.getName.matches("[0-9]+-[0-9]+[.]scala")).sorted
  val failed = chunks.find { file =>
    val code = new String(java.nio.file.Files.readAllBytes(file.toPath), "UTF-8")
    $intp.beQuietDuring($intp.interpret(code)).toString != "Success"
  }
  failed.foreach(file => java.lang.System.err.println("The statement at line " + file.getName.split("[-.]")(1) + " failed."))
  java.lang.System.out.flush()
  java.lang.System.exit(if (failed.isEmpty) 0 else 1)
}
`;
}
