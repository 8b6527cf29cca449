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
import { fromMetastore, metastoreOf, notTried } from './metastore-errors';

/** Of this process: each may hold a list of a hundred thousand entries. */
const ALL_CALLS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 32,
  maxQueued: 256,
  maxQueuedPerParty: 64,
  queueTimeoutMs: 10_000,
};
/** Of one catalog: a small metastore stands behind many users. */
const CATALOG_CALLS = {
  code: 'METASTORE.BUSY',
  maxConcurrent: 8,
  maxQueued: 64,
  maxQueuedPerParty: 16,
  queueTimeoutMs: 10_000,
};
const CALL_MS = 30_000;

/** After so many calls in a row without an answer the next ones fail at once, until one that is tried after a pause. */
const FAILURES_IN_A_ROW = 5;
const PAUSE_MS = 10_000;

/** Clients kept open, each with its connections and tokens. */
const KEPT = { max: 64, ttl: 5 * 60_000, ttlAutopurge: true };
const GUARDS = { max: 10_000 };
const PATHS = { max: 10_000 };

/** A metastore as one caller reaches it. */
export interface MetastoreAccess {
  tenantId: string;
  userId: number;
  catalogId: number;
  catalogName: string;
  /** Names catalog and secrets with their versions: what is kept under it is nobody else's, and never out of date. */
  key: string;
  /** Opens no connection yet. */
  open: () => Promise<MetastoreClient>;
}

/** A client that is closed once nobody uses it any more. */
class KeptClient {
  private uses = 0;
  private isLeft = false;

  constructor(private readonly opening: Promise<MetastoreClient>) {}

  async use<T>(work: (client: MetastoreClient) => Promise<T>): Promise<T> {
    this.uses += 1;
    try {
      return await work(await this.opening);
    } finally {
      this.uses -= 1;
      if (this.isLeft && this.uses === 0) this.end();
    }
  }

  leave(): void {
    this.isLeft = true;
    if (this.uses === 0) this.end();
  }

  end(): void {
    this.opening.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}

/**
 * How a metastore is reached with certain secrets, which decide where calls of Glue and logins by Kerberos go, and make
 * others wait that are too many: nobody's own secret keeps the others from the catalog.
 */
class Path {
  readonly breaker: CircuitBreakerPolicy = circuitBreaker(handleWhen(isSilence), {
    halfOpenAfter: PAUSE_MS,
    breaker: new ConsecutiveBreaker(FAILURES_IN_A_ROW),
  });
  /** What the last call without an answer said, and to whom: it may repeat that caller's words. */
  lastFault: { userId: number; message: string } | null = null;
}

/** That no answer came: a refusal is one. */
function isSilence(error: Error): boolean {
  return error instanceof MetastoreError && (error.fault === 'unreachable' || error.fault === 'timeout');
}

/**
 * Calls metastores with the clients that are kept open for their callers: so many at once, each within its deadline, and
 * for a while not at all where none of the last ones was answered.
 */
@Injectable()
export class Metastores implements OnApplicationShutdown {
  private readonly clients = new LRUCache<string, KeptClient>({ ...KEPT, dispose: (client) => client.leave() });
  private readonly guards = new LRUCache<number, FairBulkhead>({
    ...GUARDS,
    memoMethod: () => new FairBulkhead(CATALOG_CALLS),
  });
  private readonly paths = new LRUCache<string, Path>({ ...PATHS, memoMethod: () => new Path() });
  private readonly calls = new FairBulkhead(ALL_CALLS);

  constructor(@Inject(LOGGER) private readonly logger: Logger) {}

  onApplicationShutdown(): void {
    for (const client of this.clients.values()) client.end();
    this.clients.clear();
  }

  /** Throws a domain error that names the catalog and says what the metastore said. */
  async call<T>(
    access: MetastoreAccess,
    work: (client: MetastoreClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { userId } = access;
    const calls = this.guards.memo(access.catalogId);
    const path = this.paths.memo(access.key);
    try {
      return await calls.run(String(userId), () =>
        this.calls.run(access.tenantId, () => path.breaker.execute(() => this.clientOf(access).use(within(work)))),
      );
    } catch (error) {
      if (error instanceof BrokenCircuitError) {
        const own = path.lastFault?.userId === userId ? path.lastFault.message : null;
        throw notTried(access.catalogName, own, PAUSE_MS / 1000);
      }
      if (!(error instanceof MetastoreError)) throw error;
      if (isSilence(error)) path.lastFault = { userId, message: error.message };
      this.logger.warn(
        { catalog_id: access.catalogId, fault: error.fault, err: error },
        'A call to a metastore failed',
      );
      throw fromMetastore(metastoreOf(access.catalogName), error);
    }
  }

  private clientOf({ key, open }: MetastoreAccess): KeptClient {
    const known = this.clients.get(key, { updateAgeOnGet: true });
    if (known) return known;
    const opening = open();
    const client = new KeptClient(opening);
    this.clients.set(key, client);
    // What cannot be opened now may be so later.
    opening.catch(() => this.clients.peek(key) === client && this.clients.delete(key));
    return client;
  }
}

function within<T>(work: (client: MetastoreClient, signal: AbortSignal) => Promise<T>) {
  return (client: MetastoreClient): Promise<T> => work(client, AbortSignal.timeout(CALL_MS));
}
