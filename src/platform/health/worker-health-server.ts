import { createServer, type Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config';

/** Probes of a worker pod: `/live` while the process runs, `/ready` while it serves its queues. */
@Injectable()
export class WorkerHealthServer {
  private server: Server | null = null;
  private ready = false;

  constructor(private readonly config: Config) {}

  start(): void {
    const { healthPort } = this.config.worker;
    if (healthPort === null) return;
    this.server = createServer((request, response) => {
      const ok = request.url === '/live' || (request.url === '/ready' && this.ready);
      response.writeHead(ok ? 200 : 503, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ uptime: process.uptime(), ready: this.ready }));
    }).listen(healthPort, this.config.http.host);
  }

  markReady(ready: boolean): void {
    this.ready = ready;
  }

  stop(): void {
    this.server?.close();
  }
}
