package node

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import javax.servlet._
import javax.servlet.http.{HttpServletRequest, HttpServletResponse}

/**
 * Lets only those look at the pages of a Spark daemon who send the token that it was started with, in the header
 * `x-ui-token`: the agent of its node. The token comes in the environment variable `SPARK_UI_TOKEN`; without one nobody
 * gets in.
 */
class UiTokenFilter extends Filter {
  private val token = Option(System.getenv("SPARK_UI_TOKEN")).filter(_.nonEmpty).map(_.getBytes(UTF_8))

  override def init(config: FilterConfig): Unit = ()

  override def destroy(): Unit = ()

  override def doFilter(request: ServletRequest, response: ServletResponse, chain: FilterChain): Unit = {
    val given = Option(request.asInstanceOf[HttpServletRequest].getHeader("x-ui-token")).map(_.getBytes(UTF_8))
    val isAllowed = token.exists(expected => given.exists(MessageDigest.isEqual(expected, _)))
    if (isAllowed) chain.doFilter(request, response)
    else response.asInstanceOf[HttpServletResponse].sendError(HttpServletResponse.SC_FORBIDDEN)
  }
}
