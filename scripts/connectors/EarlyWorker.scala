package org.apache.spark.deploy.early

import java.io.IOException
import java.net.{InetSocketAddress, Socket}
import java.util.concurrent.TimeUnit.MILLISECONDS
import scala.util.control.NonFatal

import org.apache.spark.{SSLOptions, SecurityManager, SparkConf}
import org.apache.spark.deploy.worker.Worker
import org.apache.spark.internal.config.AUTH_SECRET_FILE
import org.apache.spark.rpc.RpcEnv
import org.apache.spark.ui.JettyUtils

/**
 * A worker that starts together with its master instead of after it. It loads what a worker needs, waits until the master
 * takes connections, and becomes the worker. A worker whose first attempt to register fails would wait for ten seconds.
 *
 * Arguments: host and port of the master, the number of milliseconds after which it goes on without the master, the name of
 * the worker's class, by which others recognize the process, and the worker's arguments.
 */
object EarlyWorker {
  private val PauseMs = 5
  private val ConnectMs = 1000

  def main(arguments: Array[String]): Unit = {
    val (own, worker) = arguments.splitAt(4)
    val master = new InetSocketAddress(own(0), own(1).toInt)
    val deadline = System.nanoTime + MILLISECONDS.toNanos(own(2).toLong)
    // The worker works without it, only later.
    try rehearse()
    catch {
      case NonFatal(error) => System.err.println(s"The worker could not load its classes before its master was ready: $error")
    }
    while (!accepts(master) && System.nanoTime < deadline) Thread.sleep(PauseMs)
    Worker.main(worker)
  }

  /** Answers one request of its own, authenticated as the master's are, and serves its pages for a moment. */
  private def rehearse(): Unit = {
    val host = "127.0.0.1"
    val conf = new SparkConf().set("spark.rpc.lookupTimeout", "5s").set("spark.port.maxRetries", "0")
    val security = new SecurityManager(conf, None, AUTH_SECRET_FILE)
    val server = RpcEnv.create("rehearsal", host, 0, conf, security, false)
    try {
      val client = RpcEnv.create("rehearsal", host, 0, conf, security, true)
      try client.setupEndpointRef(server.address, "endpoint-verifier")
      finally client.shutdown()
    } finally server.shutdown()
    JettyUtils.startJettyServer(host, 0, SSLOptions(), conf, "rehearsal", 8).stop()
    Class.forName("org.apache.spark.deploy.worker.Worker$")
    Class.forName("org.apache.spark.deploy.worker.ui.WorkerWebUI")
  }

  private def accepts(address: InetSocketAddress): Boolean = {
    val socket = new Socket
    try {
      socket.connect(address, ConnectMs)
      // A connection to a port that nobody listens to can come from that very port, and then meets itself.
      socket.getLocalPort != address.getPort
    } catch {
      case _: IOException => false
    } finally socket.close()
  }
}
