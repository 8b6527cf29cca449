package node

import java.io._
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID
import java.util.concurrent._
import java.util.concurrent.atomic.AtomicReference

import scala.concurrent.{Await, Future, Promise}
import scala.concurrent.duration.Duration
import scala.tools.nsc.Settings
import scala.tools.nsc.interpreter.{IMain, JPrintWriter}
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import akka.actor.{Actor, ActorRef, ActorSystem, Props}
import com.typesafe.config.{Config, ConfigFactory}
import org.apache.logging.log4j.Level
import org.apache.logging.log4j.core.config.Configurator
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.util.MutableURLClassLoader
import org.apache.toree.boot.layer.InterpreterManager
import org.apache.toree.comm.{CommRegistrar, CommStorage, KernelCommManager}
import org.apache.toree.global.{ExecuteRequestState, StreamState}
import org.apache.toree.interpreter.{ExecuteError, ExecuteFailure, Interpreter}
import org.apache.toree.kernel.api.Kernel
import org.apache.toree.kernel.interpreter.scala.ScalaInterpreter
import org.apache.toree.kernel.protocol.v5.{Header, KMBuilder, KernelMessage, SystemActorType}
import org.apache.toree.kernel.protocol.v5.kernel.SimpleActorLoader
import org.apache.toree.plugins.PluginManager
import org.apache.toree.utils.{LogLike, TaskManager}
import play.api.libs.json._

/**
 * The Scala kernel of a notebook: the interpreter of Apache Toree, asked over a pipe instead of sockets, which others on
 * the machine could connect to (ADR 0034).
 *
 * Arguments: the jar of Toree, the file of requests and the file of what the kernel says. Both hold records: the length,
 * four bytes, and a JSON object, `{"op": "message", "message": …}` or `{"op": "interrupt"}` in, `{"op": "ready"}` or
 * `{"op": "message", "message": …}` out. The kernel ends with the file of requests.
 */
object ScalaKernel extends Logging {
  def main(args: Array[String]): Unit = {
    initializeLogIfNecessary(isInterpreter = true, silent = true)
    // Of each thing that they bind, the interpreters warn.
    Seq("node", "org.apache.toree").foreach(Configurator.setLevel(_, Level.ERROR))
    val Array(toree, requests, said) = args
    // Among the jars of the run, so that cells see these, and not among those that Spark sends to executors.
    Thread.currentThread.getContextClassLoader.asInstanceOf[MutableURLClassLoader].addURL(new File(toree).toURI.toURL)
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

  /** Ends all jobs of the session; one that has not begun has none. */
  def cancelJobs(): Unit = for (result <- begun.future.value; session <- result) {
    if (!session.sparkContext.isStopped) session.sparkContext.cancelAllJobs()
  }

  def inThread(name: String)(work: => Unit): Thread = {
    val thread = new Thread(() => work, name)
    thread.setDaemon(true)
    thread.start()
    thread
  }
}

/**
 * Executes one cell at a time in a thread that can be ended, whatever it does.
 * @param loader by which the classes of cells are found
 */
class CellThreads(loader: () => ClassLoader) extends TaskManager {
  private val Patience = 2000L
  private val running = new AtomicReference[(Thread, Promise[_])]()

  override def start(): Unit = ()

  override def stop(): Unit = ()

  override def add[T](task: => T): Future[T] = {
    val promise = Promise[T]()
    val thread = new Thread(() => promise.tryComplete(Try(task).recoverWith(asEnd[T])), "cell")
    thread.setContextClassLoader(loader())
    thread.setDaemon(true)
    running.set((thread, promise))
    thread.start()
    promise.future
  }

  /** Ends the cell: by an interrupt, which most waits heed, or else as Java can still end a thread that does not. */
  @annotation.nowarn("cat=deprecation")
  def end(): Unit = Option(running.get).filter(_._1.isAlive).foreach { case (thread, promise) =>
    thread.interrupt()
    thread.join(Patience)
    if (thread.isAlive) {
      Try(thread.stop())
      thread.join(Patience)
    }
    promise.tryFailure(ended(new InterruptedException()))
  }

  private def asEnd[T]: PartialFunction[Throwable, Try[T]] = { case error => Failure(ended(error)) }

  /** What the interpreter takes for a cell that was aborted. */
  private def ended(error: Throwable) = new ExecutionException(error)
}

/** The interpreter with `spark` and `sc` at hand, and with what the shell of Spark imports. */
class NotebookInterpreter(config: Config) extends ScalaInterpreter(config) {
  private var compiler: IMain = _
  private lazy val cells = new CellThreads(() => compiler.classLoader)

  override protected def newTaskManager(): TaskManager = cells

  override protected def newIMain(settings: Settings, out: JPrintWriter): IMain = {
    compiler = super.newIMain(settings, out)
    compiler
  }

  // To forget the exception is a definition, too, which the next cell would show as its own.
  override protected def interpretConstructExecuteError(output: String): ExecuteError =
    try super.interpretConstructExecuteError(output)
    finally lastResultOut.reset()

  override def interrupt(): Interpreter = {
    // First: a cell that waits for a job ends with it.
    Try(NotebookSession.cancelJobs())
    cells.end()
    this
  }

  // A definition is shown as such, and not also as the result.
  override def prepareResult(
      output: String, showType: Boolean, noTruncate: Boolean, showOutput: Boolean,
  ): (Option[Any], Option[String], Option[String]) = {
    val (result, definitions, text) = super.prepareResult(output, showType, noTruncate, showOutput)
    val isDefined = NotebookInterpreter.Named.findAllMatchIn(output).map(_.group(1)).toSeq.lastOption.exists(!_.matches("res\\d+"))
    (result.filterNot(_ => isDefined), definitions, text)
  }

  // A lazy value, unlike a function, can be imported from.
  override def bindSparkSession(): Unit =
    quietly(s"@transient lazy val spark: ${classOf[SparkSession].getName} = node.NotebookSession.await()")

  override def bindSparkContext(): Unit =
    quietly("@transient lazy val sc: org.apache.spark.SparkContext = spark.sparkContext")

  override def defineImplicits(): Unit =
    quietly("import spark.implicits._\nimport spark.sql\nimport org.apache.spark.sql.functions._")

  private def quietly(code: String): Unit = doQuietly(interpret(code))
}

object NotebookInterpreter {
  /** The name at the begin of a line by which the interpreter tells a value. */
  private val Named = """(?m)^(\w+): .+ =""".r
}

/** What cells print, sent as text that ends with a character; more than the bridge passes on is dropped. */
class CellStream(send: String => Unit, bound: CellStream.Bound) extends OutputStream {
  private val bytes = new ByteArrayOutputStream()
  private var isScheduled = false

  override def write(byte: Int): Unit = write(Array(byte.toByte), 0, 1)

  override def write(given: Array[Byte], offset: Int, length: Int): Unit = synchronized {
    bytes.write(given, offset, length)
    if (bytes.size >= CellStream.AtOnce) flush()
    else if (!isScheduled) {
      isScheduled = true
      CellStream.timer.schedule((() => flush()): Runnable, CellStream.EveryMs, TimeUnit.MILLISECONDS)
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
  private val AtOnce = 32 * 1024
  private val EveryMs = 50L
  private val timer = Executors.newSingleThreadScheduledExecutor { (work: Runnable) =>
    val thread = new Thread(work, "cell-streams")
    thread.setDaemon(true)
    thread
  }

  /** Of all that one request prints; the bridge has to see that there was more than it passes on. */
  class Bound {
    private var left = 1024 * 1024 + 1

    def take(text: String): String = synchronized {
      val taken = text.take(left)
      left -= taken.length
      taken
    }
  }

  /** How many of the bytes are whole characters of UTF-8. */
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

/** Takes what Toree itself says, such as what cells display. */
class Relay(say: KernelMessage => Unit) extends Actor {
  override def receive: Receive = {
    case message: KernelMessage => say(message)
    case passed: Promise[Unit @unchecked] => passed.success(())
  }
}

/** The side of the kernel that the bridge talks to; requests are answered one after the other. */
object KernelProcess extends LogLike {
  /** The longest message; more would be left out by the bridge anyway. */
  private val LongestMessage = 15 * 1024 * 1024
  private val LongestRequest = 64 * 1024 * 1024
  private val LongestError = 10000
  private val MostLines = 200
  private val SettingsOfToree = ConfigFactory.parseString(
    """default_interpreter_plugin = ["Scala:node.NotebookInterpreter"]
      |interpreter_plugins = []
      |# The session is not Toree's to begin.
      |spark_context_initialization_mode = none
      |akka.log-dead-letters = off
      |akka.daemonic = on
      |""".stripMargin,
  )
  /** What the interpreter calls errors without an exception. */
  private val OfCompiler = Set("Compile Error", "Unknown Error")
  private val nothing = Json.obj()
  private val requests = new LinkedBlockingQueue[JsObject]()
  private var out: OutputStream = _
  private var count = 0
  /** Id of the request whose code is executed. */
  private val executing = new AtomicReference[Option[String]](None)
  @volatile private var isInterrupted = false
  /** What the cell that is executed, or was the last one, prints to. */
  @volatile private var streams: Seq[CellStream] = Nil

  private var interpreter: Interpreter = _
  private var relay: ActorRef = _

  def run(in: DataInputStream, said: OutputStream): Unit = {
    out = said
    // Where the executors find the classes of cells; known before the session begins.
    System.setProperty("spark.repl.class.outputDir", org.apache.spark.repl.Main.outputDir.getAbsolutePath)
    NotebookSession.begin()
    NotebookSession.inThread("requests")(read(in))
    begin()
    record(Json.toBytes(Json.obj("op" -> "ready")))
    while (true) answer(requests.take())
  }

  private def begin(): Unit = {
    val config = SettingsOfToree.withFallback(ConfigFactory.load())
    val actors = ActorSystem("kernel", config)
    relay = actors.actorOf(Props(classOf[Relay], relayed _), SystemActorType.KernelMessageRelay.toString)
    val loader = SimpleActorLoader(actors)
    val interpreters = InterpreterManager(config)
    interpreter = interpreters.defaultInterpreter.get
    val comms = new KernelCommManager(loader, KMBuilder(), new CommRegistrar(new CommStorage()))
    // Without plugins there are no magics: Java has two methods for each, and Toree executes both.
    interpreters.initializeInterpreters(new Kernel(config, loader, interpreters, comms, new PluginManager()))
  }

  private def read(in: DataInputStream): Unit = {
    try
      while (true) {
        val length = in.readInt()
        if (length < 0 || length > LongestRequest) throw new IOException(s"A request has $length bytes.")
        val bytes = new Array[Byte](length)
        in.readFully(bytes)
        val request = Json.parse(bytes).as[JsObject]
        (request \ "op").as[String] match {
          case "interrupt" => NotebookSession.inThread("interrupt")(interrupt())
          case _ => requests.put((request \ "message").as[JsObject])
        }
      }
    catch {
      case _: EOFException => ()
      case error: Throwable => logger.error("The bridge of the notebook cannot be understood", error)
    }
    // Without a bridge nobody is served.
    System.exit(0)
  }

  private def interrupt(): Unit = synchronized {
    if (executing.get.isDefined) {
      isInterrupted = true
      interpreter.interrupt()
    }
  }

  private def answer(request: JsObject): Unit = {
    val header = (request \ "header").as[JsObject]
    val content = (request \ "content").asOpt[JsObject].getOrElse(nothing)
    val kind = (header \ "msg_type").as[String]
    say("status", header, Json.obj("execution_state" -> "busy"))
    try
      if (kind == "execute_request") execute(header, content)
      else if (kind.endsWith("_request"))
        say(kind.replace("_request", "_reply"), header, replyTo(kind, content))
    catch {
      case error: Throwable =>
        logger.error(s"A $kind failed", error)
        say(kind.replace("_request", "_reply"), header, failed(error.getClass.getName, error.getMessage, Nil))
    } finally say("status", header, Json.obj("execution_state" -> "idle"))
  }

  private def replyTo(kind: String, content: JsObject): JsObject = {
    val code = (content \ "code").asOpt[String].getOrElse("")
    val ok = Json.obj("status" -> "ok")
    kind match {
      case "complete_request" =>
        val cursor = (content \ "cursor_pos").asOpt[Int].getOrElse(code.length).max(0).min(code.length)
        val (start, matches) = interpreter.completion(code, cursor)
        ok ++ Json.obj("matches" -> matches, "cursor_start" -> start, "cursor_end" -> cursor, "metadata" -> nothing)
      case "is_complete_request" =>
        val (status, indent) = interpreter.isComplete(code)
        Json.obj("status" -> status, "indent" -> indent)
      case "kernel_info_request" =>
        val language = interpreter.languageInfo
        val info = Json.obj("name" -> language.name, "version" -> language.version, "file_extension" -> ".scala",
          "mimetype" -> "text/x-scala", "pygments_lexer" -> "scala", "codemirror_mode" -> "text/x-scala")
        ok ++ Json.obj("protocol_version" -> "5.3", "implementation" -> "scala", "implementation_version" -> "1.0",
          "language_info" -> info, "banner" -> "Spark with Scala", "help_links" -> Json.arr())
      case "inspect_request" => ok ++ Json.obj("found" -> false, "data" -> nothing, "metadata" -> nothing)
      case "history_request" => ok ++ Json.obj("history" -> Json.arr())
      case "comm_info_request" => ok ++ Json.obj("comms" -> nothing)
      case _ => failed("UnknownRequest", s"The kernel does not know $kind.", Nil)
    }
  }

  private def execute(header: JsObject, content: JsObject): Unit = {
    val code = (content \ "code").as[String]
    val isSilent = (content \ "silent").asOpt[Boolean].getOrElse(false)
    if (!isSilent) {
      count += 1
      say("execute_input", header, Json.obj("code" -> code, "execution_count" -> count))
    }
    val bound = new CellStream.Bound()
    streams = Seq("stdout", "stderr").map { name =>
      new CellStream(text => say("stream", header, Json.obj("name" -> name, "text" -> text)), bound)
    }
    isInterrupted = false
    executing.set(Some((header \ "msg_id").as[String]))
    val outcome =
      try interpret(header, content, code, isSilent)
      catch { case NonFatal(error) => Right(ExecuteError(error.getClass.getName, error.getMessage, Nil)) }
      finally synchronized(executing.set(None))
    streams.foreach(_.flush())
    relayAll()
    val numbered = Json.obj("execution_count" -> count)
    val reply = outcome match {
      case Left(data) =>
        if (data.values.exists(_.nonEmpty) && !isSilent)
          say("execute_result", header, numbered ++ Json.obj("data" -> data, "metadata" -> nothing))
        Json.obj("status" -> "ok", "payload" -> Json.arr(), "user_expressions" -> nothing)
      case Right(failure) =>
        val error = failure match {
          case _ if isInterrupted => failed("Interrupted", "The cell was interrupted.", Nil)
          case ExecuteError(name, value, _) if OfCompiler(name) => failed("CompileError", value, Seq(value))
          case ExecuteError(name, value, trace) => failed(name, value, trace)
          case _ => failed("Aborted", "The cell was aborted.", Nil)
        }
        say("error", header, error - "status")
        error
    }
    say("execute_reply", header, numbered ++ reply)
  }

  private def interpret(
      header: JsObject, content: JsObject, code: String, isSilent: Boolean,
  ): Either[Map[String, String], ExecuteFailure] = {
    val Seq(stdout, stderr) = streams
    // What Toree displays for a cell has this as its parent.
    ExecuteRequestState.processIncomingKernelMessage(
      KernelMessage(Nil, "", header.as[Header], Header("", "", "", "", ""), Map.empty, Json.stringify(content)),
    )
    StreamState.setStreams(new ByteArrayInputStream(Array.emptyByteArray), stdout, stderr)
    if (code.trim.isEmpty) Left(Map.empty) else interpreter.interpret(code, isSilent, Some(stdout))._2
  }

  private def failed(name: String, value: String, trace: Seq[String]): JsObject = {
    val told = Option(value).getOrElse("").take(LongestError)
    val lines = if (trace.isEmpty) Seq(s"$name: $told") else trace.take(MostLines).map(_.take(LongestError))
    Json.obj("status" -> "error", "ename" -> name, "evalue" -> told, "traceback" -> lines)
  }

  /** Waits until all is sent that Toree has said until now. */
  private def relayAll(): Unit = {
    val passed = Promise[Unit]()
    relay ! passed
    Await.result(passed.future, Duration.Inf)
  }

  private def relayed(message: KernelMessage): Unit = {
    // Printed before.
    streams.foreach(_.flush())
    val content = Json.parse(message.contentString).as[JsObject]
    say(message.header.msg_type, Json.toJson(message.parentHeader).as[JsObject], content)
  }

  private def say(kind: String, parent: JsObject, content: JsObject): Unit = {
    val header = Json.obj("msg_id" -> UUID.randomUUID.toString, "msg_type" -> kind, "username" -> "kernel",
      "session" -> "kernel", "date" -> java.time.Instant.now.toString, "version" -> "5.3")
    val message = Json.obj("header" -> header, "parent_header" -> parent, "metadata" -> nothing)
    def framed(content: JsObject) =
      Json.toBytes(Json.obj("op" -> "message", "message" -> (message ++ Json.obj("content" -> content))))
    val frame = framed(content)
    if (frame.length <= LongestMessage) record(frame)
    else {
      val note = s"[A $kind of ${frame.length} bytes is left out.]"
      record(framed(content - "data" ++ Json.obj("data" -> Json.obj("text/plain" -> note), "metadata" -> nothing)))
    }
  }

  private def record(frame: Array[Byte]): Unit = out.synchronized {
    out.write(java.nio.ByteBuffer.allocate(4).putInt(frame.length).array ++ frame)
  }
}
