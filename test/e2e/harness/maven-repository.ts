import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type LoopbackServer, serveOnLoopback } from '../../fakes/http/loopback-server';
import { eventually } from '../../harness/eventually';

const CENTRAL = process.env['MAVEN_REPOSITORY_URL'] ?? 'https://repo1.maven.org/maven2/';

/** Shorter than the timeout of a test, and longer than a file serves the repository. */
const FREE_WITHIN_MS = 450_000;

/** Serves the Maven repository of a shared platform, below `/maven/` of its port, once no other file serves it. */
export function serveSharedRepository(port: number, listener: RequestListener): Promise<LoopbackServer> {
  return eventually(() => serveOnLoopback(listener, port), {
    timeoutMs: FREE_WITHIN_MS,
    what: "the free port of the platform's Maven repository",
  });
}

/** Serves Maven Central, or the mirror that MAVEN_REPOSITORY_URL names, as the Maven repository of a shared platform. */
export function relayMavenCentral(port: number): Promise<LoopbackServer> {
  return serveSharedRepository(port, (request, response) => {
    relay(request, response).catch((error: Error) => response.destroy(error));
  });
}

async function relay({ url = '', method }: IncomingMessage, response: ServerResponse): Promise<void> {
  const address = new URL(url.replace('/maven/', ''), `${CENTRAL.replace(/\/+$/, '')}/`);
  const answer = await fetch(address, { method, headers: { 'accept-encoding': 'identity' } });
  const length = answer.headers.get('content-length');
  response.writeHead(answer.status, length === null ? {} : { 'content-length': length });
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}
