package node

import java.io._
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent._

import scala.collection.JavaConverters._
import scala.concurrent.{Await, Promise}
import scala.concurrent.duration.Duration
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import com.fasterxml.jackson.core.{JsonFactory, StreamReadConstraints}
import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.MutableURLClassLoader

/**
 * The Scala kernel of a notebook: the interpreter of Spark's shell, asked over a pipe instead of sockets, which others on the machine
 * could connect to (ADR 0034).
 *
 * Arguments: the file of requests and the file of what the kernel says. Both hold records: the length, four bytes, and a JSON object,
 * `{"op": "message", "message": …}` or `{"op": "interrupt"}` in, `{"op": "ready"}` or `{"op": "message", "message": …}` out. The kernel
 * ends with the file of requests.
 */
object ScalaKernel extends Logging {
  def main(args: Array[String]): Unit = {
    // Before cells have System.err: the log stays where it is.
    initializeLogIfNecessary(isInterpreter = true, silent = true)
    val Array(requests, said) = args
    CellOutput.take()
    KernelProcess.run(new DataInputStream(new BufferedInputStream(new FileInputStream(requests))), new FileOutputStream(said))
  }
}

/** The session of Spark, which begins beside the interpreter. */
object NotebookSession {
  private val begun = Promise[SparkSession]()

  def begin(): Unit = inThread("spark-session")(begun.complete(Try(SparkSession.builder.getOrCreate())))

  /** The session once it has begun; can be interrupted. */
  def await(): SparkSession = Try(Await.result(begun.future, Duration.Inf)) match {
    case Success(session) => session
    case Failure(error: InterruptedException) => throw error
    case Failure(error) => throw new IllegalStateException(s"There is no Spark session: ${error.getMessage}", error)
  }

  /** Ends all jobs of the session, which may be one that a cell began after it had stopped ours. */
  def cancelJobs(): Unit = for (session <- SparkSession.getDefaultSession) {
    if (!session.sparkContext.isStopped) session.sparkContext.cancelAllJobs()
  }

  def inThread(name: String)(work: => Unit): Thread = {
    val thread = new Thread(() => work, name)
    thread.setDaemon(true)
    thread.start()
    thread
  }
}

/** `kernel` in cells. */
object NotebookKernel {
  object display {
    def html(text: String): Unit = content("text/html", text)

    def javascript(text: String): Unit = content("application/javascript", text)

    def content(mimeType: String, text: String): Unit = KernelProcess.display(mimeType, text)
  }
}

/** Passes what any thread prints to the cell that runs, or else to the last one. */
object CellOutput {
  @volatile var streams: Seq[CellStream] = Nil
  val out: PrintStream = to(0)
  val err: PrintStream = to(1)

  /** Takes the output of Java, too. What is printed before the first cell is dropped. */
  def take(): Unit = {
    System.setOut(out)
    System.setErr(err)
  }

  def flush(): Unit = streams.foreach(_.flush())

  private def to(index: Int): PrintStream = {
    val stream = new OutputStream {
      override def write(byte: Int): Unit = streams.lift(index).foreach(_.write(byte))
      override def write(given: Array[Byte], offset: Int, length: Int): Unit =
        streams.lift(index).foreach(_.write(given, offset, length))
    }
    new PrintStream(stream, false, UTF_8.name) {
      // A cell that closes it must not silence the later ones.
      override def close(): Unit = this.flush()
    }
  }
}

/** Sends what a cell prints, in texts of whole characters. Drops more than the bridge passes on. */
class CellStream(send: String => Unit, bound: CellStream.Bound) extends OutputStream {
  private val bytes = new ByteArrayOutputStream()
  private var isScheduled = false

  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(given: Array[Byte], offset: Int, length: Int): Unit = synchronized {
    bytes.write(given, offset, length)
    if (bytes.size >= CellStream.MaxBufferedBytes) flush()
    else if (!isScheduled) {
      isScheduled = true
      CellStream.timer.schedule((() => flush()): Runnable, CellStream.FlushIntervalMs, TimeUnit.MILLISECONDS)
    }
  }

  override def flush(): Unit = synchronized {
    isScheduled = false
    val all = bytes.toByteArray
    val whole = CellStream.wholeCharacters(all)
    bytes.reset()
    bytes.write(all, whole, all.length - whole)
    val text = bound.take(new String(all, 0, whole, UTF_8))
    if (text.nonEmpty) send(text)
  }
}

object CellStream {
  private val MaxBufferedBytes = 32 * 1024
  private val FlushIntervalMs = 50L
  private val timer = Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
    val thread = new Thread(work, "cell-streams")
    thread.setDaemon(true)
    thread
  }

  /** Limits all that one request prints, to one character more than the bridge passes on, so that it sees that there was more. */
  class Bound {
    private var left = 1024 * 1024 + 1

    def take(text: String): String = synchronized {
      val taken = text.take(left)
      left -= taken.length
      taken
    }
  }

  /** Returns how many of the bytes are whole characters of UTF-8. */
  private def wholeCharacters(bytes: Array[Byte]): Int = {
    val start = bytes.lastIndexWhere(byte => (byte & 0xc0) != 0x80)
    if (start < 0 || bytes.length - start > 4) return bytes.length
    val length = bytes(start) & 0xff match {
      case first if first < 0xc0 => 1
      case first if first < 0xe0 => 2
      case first if first < 0xf0 => 3
      case _ => 4
    }
    if (bytes.length - start >= length) bytes.length else start
  }
}

/** Reads and writes JSON with Jackson, which every Spark has. */
object Json {
  val MaxRequestBytes = 64 * 1024 * 1024
  private val factory =
    new JsonFactory().setStreamReadConstraints(StreamReadConstraints.builder().maxStringLength(MaxRequestBytes).build())
  private val mapper = new ObjectMapper(factory)

  def parse(bytes: Array[Byte]): JsonNode = mapper.readTree(bytes)

  def bytes(value: Any): Array[Byte] = mapper.writeValueAsBytes(node(value))

  def obj(fields: (String, Any)*): ObjectNode = {
    val made = mapper.createObjectNode()
    for ((name, value) <- fields) made.set[JsonNode](name, node(value))
    made
  }

  private def node(value: Any): JsonNode = value match {
    case ready: JsonNode => ready
    // Half of a surrogate pair is no text that JSON can hold.
    case text: String => mapper.getNodeFactory.textNode(text.replaceAll("\\p{Cs}", "\uFFFD"))
    case number: Int => mapper.getNodeFactory.numberNode(number)
    case fact: Boolean => mapper.getNodeFactory.booleanNode(fact)
    case list: Seq[_] => mapper.createArrayNode().addAll(list.map(node).asJava)
  }
}

/** The side of the kernel that the bridge talks to; requests are answered one after the other. */
object KernelProcess extends Logging {
  /** The bridge would leave out more. */
  private val MaxMessageBytes = 15 * 1024 * 1024
  private val MaxErrorLength = 10000
  private val MaxTracebackLines = 200
  private class Request(val message: JsonNode) {
    /** True if its code is to end, or not to begin. */
    @volatile var isInterrupted = false
  }
  private val requests = new LinkedBlockingQueue[Request]()
  /** The last request with code that was read; the bridge sends one at a time. */
  private var lastWithCode: Option[Request] = None
  private var out: OutputStream = _
  private var count = 0
  /** Header of the last request with code. */
  @volatile private var lastCell: JsonNode = Json.obj()
  @volatile private var interpreter: CellInterpreter = _

  def run(in: DataInputStream, said: OutputStream): Unit = {
    out = said
    val classes = org.apache.spark.repl.Main.outputDir.getAbsolutePath
    // Where the executors find the classes of cells; known before the session begins.
    System.setProperty("spark.repl.class.outputDir", classes)
    NotebookSession.begin()
    NotebookSession.inThread("requests")(read(in))
    val loader = Thread.currentThread.getContextClassLoader.asInstanceOf[MutableURLClassLoader]
    val jars = loader.getURLs.toSeq.filter(_.getProtocol == "file").map(url => new File(url.toURI).getPath)
    interpreter = new CellInterpreter(jars, loader, classes)
    record(Json.bytes(Json.obj("op" -> "ready")))
    while (true) answer(requests.take())
  }

  private def read(in: DataInputStream): Unit = {
    try
      while (true) {
        val length = in.readInt()
        if (length < 0 || length > Json.MaxRequestBytes) throw new IOException(s"A request has $length bytes.")
        val bytes = new Array[Byte](length)
        in.readFully(bytes)
        val request = Json.parse(bytes)
        request.path("op").asText match {
          case "interrupt" =>
            for (target <- lastWithCode) {
              target.isInterrupted = true
              // Until there is an interpreter, no cell runs.
              for (started <- Option(interpreter))
                NotebookSession.inThread("interrupt")(started.interrupt(() => NotebookSession.cancelJobs()))
            }
          case _ =>
            val read = new Request(request.path("message"))
            if (read.message.path("header").path("msg_type").asText == "execute_request") lastWithCode = Some(read)
            requests.put(read)
        }
      }
    catch {
      case _: EOFException => ()
      case error: Throwable => logError("The bridge of the notebook cannot be understood", error)
    }
    // Without a bridge nobody is served.
    System.exit(0)
  }

  private def answer(request: Request): Unit = {
    val header = request.message.path("header")
    val content = request.message.path("content")
    val kind = header.path("msg_type").asText
    say("status", header, Json.obj("execution_state" -> "busy"))
    try
      if (kind == "execute_request") execute(request, header, content)
      else if (kind.endsWith("_request"))
        say(kind.replace("_request", "_reply"), header, replyTo(kind, content))
    catch {
      case error: Throwable =>
        logError(s"A $kind failed", error)
        say(kind.replace("_request", "_reply"), header, failed(Failed(error.getClass.getName, error.getMessage, Nil)))
    } finally say("status", header, Json.obj("execution_state" -> "idle"))
  }

  private def replyTo(kind: String, content: JsonNode): ObjectNode = {
    val code = content.path("code").asText
    val nothing = Json.obj()
    kind match {
      case "complete_request" =>
        // Jupyter counts characters, Java halves of some.
        val characters = code.codePointCount(0, code.length)
        val end = content.path("cursor_pos").asInt(characters).max(0).min(characters)
        val cursor = code.offsetByCodePoints(0, end)
        val (found, matches) = interpreter.complete(code, cursor)
        // It is -1 if nothing was found.
        val start = code.codePointCount(0, if (found < 0) cursor else found.min(cursor))
        Json.obj("status" -> "ok", "matches" -> matches, "cursor_start" -> start, "cursor_end" -> end, "metadata" -> nothing)
      case "is_complete_request" => Json.obj("status" -> interpreter.completeness(code), "indent" -> "")
      case "kernel_info_request" =>
        val info = Json.obj("name" -> "scala", "version" -> scala.util.Properties.versionNumberString, "file_extension" -> ".scala",
          "mimetype" -> "text/x-scala", "pygments_lexer" -> "scala", "codemirror_mode" -> "text/x-scala")
        Json.obj("status" -> "ok", "protocol_version" -> "5.3", "implementation" -> "scala", "implementation_version" -> "1.0",
          "language_info" -> info, "banner" -> "Spark with Scala", "help_links" -> Nil)
      case "inspect_request" => Json.obj("status" -> "ok", "found" -> false, "data" -> nothing, "metadata" -> nothing)
      case "history_request" => Json.obj("status" -> "ok", "history" -> Nil)
      case "comm_info_request" => Json.obj("status" -> "ok", "comms" -> nothing)
      case _ => failed(Failed("UnknownRequest", s"The kernel does not know $kind.", Nil))
    }
  }

  private def execute(request: Request, header: JsonNode, content: JsonNode): Unit = {
    val code = content.path("code").asText.stripPrefix("\uFEFF")
    val isSilent = content.path("silent").asBoolean(false)
    if (!isSilent) {
      count += 1
      say("execute_input", header, Json.obj("code" -> code, "execution_count" -> count))
    }
    val bound = new CellStream.Bound()
    CellOutput.streams = Seq("stdout", "stderr").map { name =>
      new CellStream(text => say("stream", header, Json.obj("name" -> name, "text" -> text)), bound)
    }
    // A cell may have replaced them.
    CellOutput.take()
    lastCell = header
    val result =
      try interpreter.run(code, text => if (!isSilent) CellOutput.out.print(text), () => request.isInterrupted)
      catch { case NonFatal(error) => Failed(error.getClass.getName, error.getMessage, Nil) }
    CellOutput.flush()
    val reply = result match {
      case Done(value) =>
        for (text <- value if !isSilent)
          say("execute_result", header, Json.obj("execution_count" -> count, "data" -> Json.obj("text/plain" -> text), "metadata" -> Json.obj()))
        Json.obj("status" -> "ok", "payload" -> Nil, "user_expressions" -> Json.obj())
      case failure: Failed =>
        val error = failed(if (request.isInterrupted) Failed("Interrupted", "The cell was interrupted.", Nil) else failure)
        say("error", header, error.deepCopy().without("status"))
        error
    }
    say("execute_reply", header, reply.put("execution_count", count))
  }

  private def failed(failure: Failed): ObjectNode = {
    val told = Option(failure.message).getOrElse("").take(MaxErrorLength)
    val lines =
      if (failure.trace.isEmpty) Seq(s"${failure.name}: $told") else failure.trace.take(MaxTracebackLines).map(_.take(MaxErrorLength))
    Json.obj("status" -> "error", "ename" -> failure.name, "evalue" -> told, "traceback" -> lines)
  }

  /** Shows data beside what the cell has printed until now. */
  def display(mimeType: String, text: String): Unit = {
    CellOutput.flush()
    say("display_data", lastCell, Json.obj("data" -> Json.obj(mimeType -> text), "metadata" -> Json.obj(), "transient" -> Json.obj()))
  }

  private def say(kind: String, parent: JsonNode, content: ObjectNode): Unit = {
    val header = Json.obj("msg_id" -> UUID.randomUUID.toString, "msg_type" -> kind, "username" -> "kernel",
      "session" -> "kernel", "date" -> java.time.Instant.now.toString, "version" -> "5.3")
    def framed(content: ObjectNode) = Json.bytes(Json.obj("op" -> "message", "message" -> Json.obj(
      "header" -> header, "parent_header" -> parent, "metadata" -> Json.obj(), "content" -> content)))
    val frame = framed(content)
    if (frame.length <= MaxMessageBytes) record(frame)
    else {
      val note = s"[A $kind of ${frame.length} bytes is left out.]"
      record(framed(Json.obj("data" -> Json.obj("text/plain" -> note), "metadata" -> Json.obj())))
    }
  }

  private def record(frame: Array[Byte]): Unit = out.synchronized {
    out.write(java.nio.ByteBuffer.allocate(4).putInt(frame.length).array ++ frame)
  }
}
