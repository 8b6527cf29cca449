import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SweepScope, Swept } from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { messageOf } from '../../../../platform/kernel/errors/message-of';
import { Installation } from '../../../../platform/kernel/installation/installation';
import { LOGGER, type Logger } from '../../../../platform/kernel/logging/logger';
import { withDeadline } from '../../../../platform/kernel/process/deadline';
import { Reconciler } from '../../../../platform/background/workflows/reconciler';
import { CredentialsConfsService } from '../../../infrastructure/environments';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { MachinePlacesRepository } from './machine-places.repository';
import { isNodeToken } from '../model/node-token';
import { Drivers } from './drivers';
import type { MachinePlace } from '../model/entities/machine-place.entity';

/** Places that are swept at once, and how many of them may be one tenant's: the others are not to wait for it. */
const AT_ONCE = 8;
const AT_ONCE_OF_TENANT = 2;
/** A round takes no further place after so long, milliseconds; the next one goes on. */
const ROUND_MS = 5 * 60_000;
/** How long one place may take, and how long a driver has to end its calls after that; milliseconds. */
const PLACE_MS = 120_000;
const END_MS = 2_000;
/** A machine that no cluster owns is left alone for so long, milliseconds. */
const ORPHAN_AGE_MS = 10 * 60_000;
/** After so long, another worker may take a place that this one has no driver for; milliseconds. */
const OTHERS_AFTER_MS = 60_000;
/** How many nodes or errors a log line names. */
const NAMED = 10;

/** What a place does not say. */
const NOWHERE: Place = {
  ...{ account: null, region: null, zone: null, networkAccount: null, network: null, subnet: null },
  ...{ networkTags: [], networkCard: null, hosts: [] },
};

/**
 * Removes at the providers what no live node owns: machines, and disks, network cards and addresses that were left of them.
 * Each place where nodes were ever planned has its turn, those due for longest first. One that hangs or refuses costs its own
 * tenant time, and is looked at ever more rarely.
 */
@Injectable()
export class OrphanSweeper extends Reconciler {
  readonly name = 'orphans';
  readonly intervalMs = 15_000;
  readonly deadlineMs = ROUND_MS + PLACE_MS + 3 * END_MS;
  /** One at a time asks for the next place: each counts what the others have taken. */
  private turn: Promise<unknown> = Promise.resolve();

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

  async reconcile(signal: AbortSignal): Promise<void | 'more'> {
    const takenUntil = performance.now() + ROUND_MS;
    const busy = new Map<string, number>();
    let hasMore = false;
    const lane = async (): Promise<void> => {
      while (!signal.aborted) {
        if (performance.now() > takenUntil) {
          hasMore = true;
          return;
        }
        const place = await this.take(busy);
        if (!place) return;
        const { tenant_id: tenantId } = place;
        try {
          await this.sweep(place, signal);
        } finally {
          busy.set(tenantId, (busy.get(tenantId) ?? 0) - 1);
        }
      }
    };
    const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, lane));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
    if (hasMore) return 'more';
  }

  private take(busy: Map<string, number>): Promise<MachinePlace | null> {
    const taken = this.turn.then(async () => {
      const full = [...busy].filter(([, count]) => count >= AT_ONCE_OF_TENANT).map(([tenantId]) => tenantId);
      const place = await this.places.take(full);
      if (place) busy.set(place.tenant_id, (busy.get(place.tenant_id) ?? 0) + 1);
      return place;
    });
    this.turn = taken.catch(() => undefined);
    return taken;
  }

  private async sweep(place: MachinePlace, signal: AbortSignal): Promise<void> {
    const { machine_place_id: id, cloud_provider_id: providerId, endpoint } = place;
    if (!this.drivers.serves(providerId, endpoint || null)) return this.places.giveBack(id, OTHERS_AFTER_MS);
    let swept: Swept;
    try {
      swept = await this.askDriver(place, signal);
    } catch (error) {
      // The worker stops, or the round is over: no fault of the place.
      if (signal.aborted) return this.places.giveBack(id, 0);
      const failures = await this.places.failed(id);
      const told = { ...named(place), failures, problem: messageOf(error) };
      return this.logger.warn(told, 'Machines that no cluster owns could not be looked for');
    }
    const { removed, failed } = swept;
    if (removed.length > 0) {
      const told = { ...named(place), removed: removed.length, node_tokens: removed.slice(0, NAMED) };
      this.logger.warn(told, 'Removed machines, or what was left of them, that no cluster owns');
    }
    if (failed.length > 0) {
      const problems = failed.slice(0, NAMED).map(({ nodeToken, error }) => `${nodeToken}: ${messageOf(error)}`);
      const told = { ...named(place), failed: failed.length, problems };
      this.logger.warn(told, 'Machines that no cluster owns could not be removed');
    }
    await this.places.swept(id, { orphans: removed.length + failed.length, removed: removed.length });
  }

  private async askDriver(place: MachinePlace, pass: AbortSignal): Promise<Swept> {
    const { tenant_id: tenantId, account, region, machine_place_id: id } = place;
    const endpoint = place.endpoint || null;
    const signal = withDeadline(PLACE_MS, pass);
    const driver = await this.drivers.forEnvironment(place.cloud_provider_id, endpoint);
    const { values } = await this.credentials.reveal(this.dataSource.manager, tenantId, place.credentials_conf_id);
    const scope: SweepScope = {
      installationId: await this.installation.id(),
      place: { ...NOWHERE, account: account || null, region: region || null },
      olderThan: new Date(Date.now() - ORPHAN_AGE_MS),
      liveAmong: (tokens) => this.keptAmong(tokens),
    };
    const call = { endpoint, credentials: values, correlationId: `sweep-${id}`, signal };
    return endedSoonAfter(signal, driver.sweep(scope, call));
  }

  /** Those of live nodes, and those that this platform makes for none: whoever labelled these machines made them, too. */
  private async keptAmong(tokens: readonly string[]): Promise<Set<string>> {
    const kept = await this.nodes.liveAmong(tokens);
    for (const token of tokens) if (!isNodeToken(token)) kept.add(token);
    return kept;
  }
}

/** The work, unless it goes on after the signal although it should not. */
function endedSoonAfter<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let patience: NodeJS.Timeout | undefined;
    const cut = () => {
      const error = new Error('The provider did not answer in the time that a sweep has', { cause: signal.reason });
      patience = setTimeout(() => reject(error), END_MS);
    };
    if (signal.aborted) cut();
    else signal.addEventListener('abort', cut, { once: true });
    work.then(resolve, reject).finally(() => {
      clearTimeout(patience);
      signal.removeEventListener('abort', cut);
    });
  });
}

/** For the log. */
function named({ machine_place_id, tenant_id, credentials_conf_id, endpoint, account, region }: MachinePlace) {
  return { machine_place_id, tenant_id, credentials_conf_id, endpoint, account, region };
}
