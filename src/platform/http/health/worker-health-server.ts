import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Config } from '../../../config/config';
import { Connections } from '../connections/connections';
import { listenError } from '../../kernel/process/start-error';
import { respondToProbe, type Readiness } from './probes';

/** Probes are few, small and quick. These limits keep other clients from blocking them. */
const PROBE_TIMEOUT_MS = 5_000;
const MAX_CONNECTIONS = 64;

/** Serves the probes of a worker pod from its start to its end. */
export class WorkerHealthServer {
  private server: Server | null = null;
  private readiness: () => Promise<Readiness> = () => Promise.resolve({ ready: false, message: 'Starting' });

  constructor(private readonly config: Config) {}

  /** Throws if the process cannot listen on the port. */
  async start(): Promise<void> {
    const { healthPort } = this.config.worker;
    if (healthPort === null) return;
    const options = {
      headersTimeout: PROBE_TIMEOUT_MS,
      requestTimeout: PROBE_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    };
    const server = createServer(options, (request, response) => {
      if (!respondToProbe(request, response, this.readiness)) response.writeHead(404).end();
    });
    const limits = { all: MAX_CONNECTIONS, unknown: MAX_CONNECTIONS, unknownOfAddress: null };
    new Connections({ ...limits, readTimeoutMs: PROBE_TIMEOUT_MS }).watch(server);
    server.listen(healthPort, this.config.http.host);
    await once(server, 'listening').catch((error: unknown) => {
      throw listenError(error, { host: this.config.http.host, port: healthPort, variable: 'WORKER_HEALTH_PORT' });
    });
    this.server = server;
  }

  /** Sets the check that `/ready` runs from now on. */
  setReadiness(readiness: () => Promise<Readiness>): void {
    this.readiness = readiness;
  }

  stop(): void {
    this.server?.close();
  }
}
