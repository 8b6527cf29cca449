import { createServer, type Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';
import { Connections } from '../http/connections/connections';

/** Probes are few, small and quick; whoever else comes must not keep them out. */
const PROBE_WITHIN_MS = 5_000;
const MAX_CONNECTIONS = 64;

/** Probes of a worker pod: `/live` while the process runs, `/ready` while it serves its queues. */
@Injectable()
export class WorkerHealthServer {
  private server: Server | null = null;
  private ready = false;

  constructor(private readonly config: Config) {}

  start(): void {
    const { healthPort } = this.config.worker;
    if (healthPort === null) return;
    const options = {
      headersTimeout: PROBE_WITHIN_MS,
      requestTimeout: PROBE_WITHIN_MS,
      connectionsCheckingInterval: 1_000,
    };
    this.server = createServer(options, (request, response) => {
      const ok = request.url === '/live' || (request.url === '/ready' && this.ready);
      response.writeHead(ok ? 200 : 503, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ uptime: process.uptime(), ready: this.ready }));
    });
    const limits = { all: MAX_CONNECTIONS, unknown: MAX_CONNECTIONS, unknownOfAddress: null };
    new Connections({ ...limits, answerTakenMs: PROBE_WITHIN_MS }).watch(this.server);
    this.server.listen(healthPort, this.config.http.host);
  }

  markReady(ready: boolean): void {
    this.ready = ready;
  }

  stop(): void {
    this.server?.close();
  }
}
