import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import {
  BrokenCircuitError,
  circuitBreaker,
  type CircuitBreakerPolicy,
  ConsecutiveBreaker,
  handleWhen,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { type MetastoreClient, MetastoreError } from '../../../../libs/metastore-clients/metastore-client';
import { LOGGER, type Logger } from '../../../platform/kernel/logging/logger';
import { FairBulkhead } from '../../../platform/kernel/process/fair-bulkhead';
import { circuitOpen, fromMetastore, metastoreOf } from './metastore-errors';

/** Limits of this process, because each call may hold a list of a hundred thousand entries. */
const ALL_CALLS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 32,
  maxQueued: 256,
  maxQueuedPerParty: 64,
  queueTimeoutMs: 10_000,
};
/** Limits per catalog, because many users may share a small metastore. */
const CATALOG_CALLS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 8,
  maxQueued: 64,
  maxQueuedPerParty: 16,
  queueTimeoutMs: 10_000,
};
const CALL_TIMEOUT_MS = 30_000;

/** After this many consecutive calls without an answer, the circuit breaker opens; after the pause it tries one call. */
const MAX_CONSECUTIVE_FAILURES = 5;
const BREAKER_PAUSE_MS = 10_000;

/** Clients that stay open, each with its connections and tokens. */
const CLIENT_CACHE = { max: 64, ttl: 5 * 60_000, ttlAutopurge: true };
const BULKHEAD_CACHE = { max: 10_000 };
const PATH_CACHE = { max: 10_000 };

/** A metastore with the access of one requester. */
export interface MetastoreAccess {
  tenantId: string;
  userId: number;
  catalogId: number;
  catalogName: string;
  /** Identifies catalog and secrets with their versions, so an entry under this key is never shared with others or outdated. */
  key: string;
  /** Creates the client without opening a connection. */
  open: () => Promise<MetastoreClient>;
}

/** A client that is closed after it was retired and its last call has ended. */
class CachedClient {
  private uses = 0;
  private isRetired = false;

  constructor(private readonly opening: Promise<MetastoreClient>) {}

  async use<T>(work: (client: MetastoreClient) => Promise<T>): Promise<T> {
    this.uses += 1;
    try {
      return await work(await this.opening);
    } finally {
      this.uses -= 1;
      if (this.isRetired && this.uses === 0) this.close();
    }
  }

  retire(): void {
    this.isRetired = true;
    if (this.uses === 0) this.close();
  }

  close(): void {
    this.opening.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}

/**
 * The circuit breaker of a metastore with certain secrets. Secrets determine the servers of Glue and Kerberos and can cause
 * timeouts, so the calls with one user's secret must not block those of others.
 */
class AccessPath {
  readonly breaker: CircuitBreakerPolicy = circuitBreaker(handleWhen(isNoAnswer), {
    halfOpenAfter: BREAKER_PAUSE_MS,
    breaker: new ConsecutiveBreaker(MAX_CONSECUTIVE_FAILURES),
  });
  /** The error of the last unanswered call and its caller. It may contain that caller's input, so others must not see it. */
  lastFault: { userId: number; message: string } | null = null;
}

/** Returns true if the metastore did not answer; a refusal is an answer. */
function isNoAnswer(error: Error): boolean {
  return error instanceof MetastoreError && (error.fault === 'unreachable' || error.fault === 'timeout');
}

/**
 * Calls metastores with cached clients, with limits of concurrency, a timeout for each call, and a circuit breaker for metastores
 * that do not answer.
 */
@Injectable()
export class Metastores implements OnApplicationShutdown {
  private readonly clients = new LRUCache<string, CachedClient>({
    ...CLIENT_CACHE,
    dispose: (client) => client.retire(),
  });
  private readonly catalogCalls = new LRUCache<number, FairBulkhead>({
    ...BULKHEAD_CACHE,
    memoMethod: () => new FairBulkhead(CATALOG_CALLS),
  });
  private readonly paths = new LRUCache<string, AccessPath>({ ...PATH_CACHE, memoMethod: () => new AccessPath() });
  private readonly calls = new FairBulkhead(ALL_CALLS);

  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  onApplicationShutdown(): void {
    for (const client of this.clients.values()) client.close();
    this.clients.clear();
  }

  /** Throws a domain error that names the catalog and contains the metastore's message. */
  async call<T>(
    access: MetastoreAccess,
    work: (client: MetastoreClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { userId } = access;
    const calls = this.catalogCalls.memo(access.catalogId);
    const path = this.paths.memo(access.key);
    try {
      return await calls.run(String(userId), () =>
        this.calls.run(access.tenantId, () => path.breaker.execute(() => this.clientOf(access).use(withTimeout(work)))),
      );
    } catch (error) {
      if (error instanceof BrokenCircuitError) {
        const own = path.lastFault?.userId === userId ? path.lastFault.message : null;
        throw circuitOpen(access.catalogName, own, BREAKER_PAUSE_MS / 1000);
      }
      if (!(error instanceof MetastoreError)) throw error;
      if (isNoAnswer(error)) path.lastFault = { userId, message: error.message };
      this.logger.warn(
        { catalog_id: access.catalogId, fault: error.fault, err: error },
        'A call to the metastore of a catalog failed',
      );
      throw fromMetastore(metastoreOf(access.catalogName), error);
    }
  }

  private clientOf({ key, open }: MetastoreAccess): CachedClient {
    const known = this.clients.get(key, { updateAgeOnGet: true });
    if (known) return known;
    const opening = open();
    const client = new CachedClient(opening);
    this.clients.set(key, client);
    // A failure is not cached, so the next call tries again.
    opening.catch(() => this.clients.peek(key) === client && this.clients.delete(key));
    return client;
  }
}

function withTimeout<T>(work: (client: MetastoreClient, signal: AbortSignal) => Promise<T>) {
  return (client: MetastoreClient): Promise<T> => work(client, AbortSignal.timeout(CALL_TIMEOUT_MS));
}
