import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SweepScope, SweepResult } from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import { Installation } from '../../../../platform/kernel/installation/installation';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { withDeadline } from '../../../../platform/kernel/process/deadline';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import type { Ask } from '../../../../platform/background/workflows/work-questions';
import { CredentialsConfsService } from '../../../infrastructure/environments';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { MachinePlacesRepository } from './machine-places.repository';
import { isNodeToken } from '../model/node-token';
import { Drivers } from './drivers';
import type { MachinePlace } from '../model/entities/machine-place.entity';

/** Concurrent sweeps in all and per tenant, so that one tenant does not delay the others. */
const MAX_CONCURRENT = 8;
const MAX_CONCURRENT_PER_TENANT = 2;
/** Time after which a round claims no further place, milliseconds. The next round continues. */
const ROUND_TIMEOUT_MS = 5 * 60_000;
/** Time for one place, and time in which a driver must end its calls after that; milliseconds. */
const PLACE_TIMEOUT_MS = 120_000;
const ABORT_GRACE_MS = 2_000;
/** Minimum age of a machine without an owner before it is removed, milliseconds. */
const MIN_ORPHAN_AGE_MS = 10 * 60_000;
/** Time after which another worker may claim a place that this worker has no driver for, milliseconds. */
const RELEASE_DELAY_MS = 60_000;
const MAX_LOGGED = 10;

/** The parts of a place that a sweep does not restrict. */
const UNSPECIFIED_PLACE: Place = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

/**
 * Removes at the providers what no live node owns: machines and their leftover disks, network cards and addresses.
 * Sweeps every place in which nodes were ever planned, the most overdue first. A place that hangs or refuses delays
 * only its own tenant, and is swept ever more rarely.
 */
@Injectable()
export class OrphanSweeper extends Reconciler {
  readonly name = 'orphans';
  readonly intervalMs = 15_000;
  readonly deadlineMs = ROUND_TIMEOUT_MS + PLACE_TIMEOUT_MS + 3 * ABORT_GRACE_MS;
  /** Claims are made one at a time, because each counts those before it. */
  private lastClaim: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly places: MachinePlacesRepository,
    private readonly nodes: ClusterNodesRepository,
    private readonly credentials: CredentialsConfsService,
    private readonly drivers: Drivers,
    private readonly installation: Installation,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  override hasWork(ask: Ask): Promise<boolean> {
    return ask(this.places.hasDue);
  }

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    const claimUntil = performance.now() + ROUND_TIMEOUT_MS;
    const busy = new Map<string, number>();
    let hasMore = false;
    const lane = async (): Promise<void> => {
      while (!signal.aborted) {
        if (performance.now() > claimUntil) {
          hasMore = true;
          return;
        }
        const place = await this.claim(busy);
        if (!place) return;
        const { tenant_id: tenantId } = place;
        try {
          await this.sweep(place, signal);
        } finally {
          busy.set(tenantId, (busy.get(tenantId) ?? 0) - 1);
        }
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: MAX_CONCURRENT }, lane));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    if (hasMore) return 'more';
  }

  private claim(busy: Map<string, number>): Promise<MachinePlace | null> {
    const claim = this.lastClaim.then(async () => {
      const full = [...busy].filter(([, count]) => count >= MAX_CONCURRENT_PER_TENANT).map(([tenantId]) => tenantId);
      const place = await this.places.claim(full);
      if (place) busy.set(place.tenant_id, (busy.get(place.tenant_id) ?? 0) + 1);
      return place;
    });
    this.lastClaim = claim.catch(() => undefined);
    return claim;
  }

  private async sweep(place: MachinePlace, signal: AbortSignal): Promise<void> {
    const { machine_place_id: id, cloud_provider_id: providerId, endpoint } = place;
    if (!this.drivers.serves(providerId, endpoint || null)) return this.places.release(id, RELEASE_DELAY_MS);
    let swept: SweepResult;
    try {
      swept = await this.sweepAtProvider(place, signal);
    } catch (error) {
      // The worker stops or the round is over, so the place is not at fault.
      if (signal.aborted) return this.places.release(id, 0);
      const failures = await this.places.recordFailure(id);
      const details = { ...logFields(place), failures, problem: messageOf(error) };
      return this.logger.warn(details, 'Search for machines that no cluster owns failed');
    }
    const { removed, failed } = swept;
    if (removed.length > 0) {
      const details = { ...logFields(place), removed: removed.length, node_tokens: removed.slice(0, MAX_LOGGED) };
      this.logger.warn(details, 'Removed machines, or their leftovers, that no cluster owns');
    }
    if (failed.length > 0) {
      const problems = failed.slice(0, MAX_LOGGED).map(({ nodeToken, error }) => `${nodeToken}: ${messageOf(error)}`);
      const details = { ...logFields(place), failed: failed.length, problems };
      this.logger.warn(details, 'Removal of machines that no cluster owns failed');
    }
    await this.places.recordSweep(id, { orphans: removed.length + failed.length, removed: removed.length });
  }

  private async sweepAtProvider(place: MachinePlace, pass: AbortSignal): Promise<SweepResult> {
    const { tenant_id: tenantId, account, region, machine_place_id: id } = place;
    const endpoint = place.endpoint || null;
    const signal = withDeadline(PLACE_TIMEOUT_MS, pass);
    const driver = await this.drivers.forEnvironment(place.cloud_provider_id, endpoint);
    const { values } = await this.credentials.reveal(this.dataSource.manager, tenantId, place.credentials_conf_id);
    const scope: SweepScope = {
      installationId: await this.installation.id(),
      place: { ...UNSPECIFIED_PLACE, account: account || null, region: region || null },
      olderThan: new Date(Date.now() - MIN_ORPHAN_AGE_MS),
      liveAmong: (tokens) => this.protectedAmong(tokens),
    };
    const call = { endpoint, credentials: values, correlationId: `sweep-${id}`, signal };
    return rejectSoonAfterAbort(signal, driver.sweep(scope, call));
  }

  /**
   * Protects live nodes and machines whose token this platform did not generate: somebody else labelled and owns those.
   */
  private async protectedAmong(tokens: readonly string[]): Promise<Set<string>> {
    const kept = await this.nodes.liveAmong(tokens);
    for (const token of tokens) if (!isNodeToken(token)) kept.add(token);
    return kept;
  }
}

/** Returns the result of the work, but rejects if the work continues too long after the signal. */
function rejectSoonAfterAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    const startTimer = () => {
      const error = new Error('The provider did not respond within the time of a sweep', { cause: signal.reason });
      timer = setTimeout(() => reject(error), ABORT_GRACE_MS);
    };
    if (signal.aborted) startTimer();
    else signal.addEventListener('abort', startTimer, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', startTimer);
    });
  });
}

function logFields({ machine_place_id, tenant_id, credentials_conf_id, endpoint, account, region }: MachinePlace) {
  return { machine_place_id, tenant_id, credentials_conf_id, endpoint, account, region };
}
