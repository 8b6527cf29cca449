import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { finds, firstRow, returning, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { MachinePlace } from '../model/entities/machine-place.entity';

export type MachinePlaceKey = Pick<
  MachinePlace,
  'tenant_id' | 'credentials_conf_id' | 'cloud_provider_id' | 'endpoint' | 'account' | 'region'
>;

export interface SweepOutcome {
  /** Number of nodes without a cluster that still had resources there. */
  orphans: number;
  /** Number of them whose resources were removed. Their leftovers are swept again soon. */
  removed: number;
}

const SWEEP_INTERVAL_MS = 10 * 60_000;
const RESWEEP_DELAY_MS = 2 * 60_000;
const MAX_SWEEP_INTERVAL_MS = 6 * 60 * 60_000;
/** Time in which a worker must sweep a place that it claimed. After that, another worker may claim it. */
const CLAIM_TIMEOUT_MS = 5 * 60_000;
/** Time for which a place without nodes is still swept: a requested machine may appear late. */
const WATCH_EMPTY_MS = 60 * 60_000;

const PLACE =
  'machine_place_id, tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region, failures';

const HAS_NODES = `EXISTS (SELECT 1 FROM cluster_nodes n WHERE n.machine_place_id = p.machine_place_id
  AND n.to_date = 'infinity')`;

/** Returns SQL for the next due time: the first pause doubles with each failure in a row, up to the longest. */
const backoffFrom = (first: string, longest: string) =>
  `platform_now() + least(${first} * power(2, least(failures, 10)), ${longest}) * interval '1 millisecond'`;

/** Places where machines may exist. Workers claim them in the order in which they are due, across all tenants. */
@Injectable()
export class MachinePlacesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Returns the id of the place, which is swept regularly from now on. */
  async watch(tx: Tx, key: MachinePlaceKey): Promise<number> {
    const { tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region } = key;
    const params = [tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region];
    // A place that was not quiet stays watched for at least another hour, so plans for it need not lock its row.
    const watched = await firstRow<Pick<MachinePlace, 'machine_place_id'>>(
      tx,
      `SELECT machine_place_id FROM machine_places p WHERE ${ofTenant('p', '$1')} AND credentials_conf_id = $2
         AND cloud_provider_id = $3 AND endpoint = $4 AND account = $5 AND region = $6 AND quiet_since IS NULL
         AND due_at < 'infinity'`,
      params,
    );
    if (watched) return watched.machine_place_id;
    const [inserted] = await returning<Pick<MachinePlace, 'machine_place_id'>>(
      tx,
      `INSERT INTO machine_places (tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, platform_now() + $7 * interval '1 millisecond')
       ON CONFLICT ON CONSTRAINT uq_machine_places DO UPDATE
         SET quiet_since = NULL, due_at = least(machine_places.due_at, excluded.due_at)
       RETURNING machine_place_id`,
      [...params, SWEEP_INTERVAL_MS],
    );
    if (!inserted) throw new Error('A machine place was neither found nor inserted');
    return inserted.machine_place_id;
  }

  /** A condition that is true if {@link claim} would find a place. */
  readonly hasDue = (): string =>
    finds('SELECT machine_place_id FROM machine_places WHERE due_at <= platform_now() ORDER BY due_at');

  /** Claims the place that is overdue for longest, for some minutes. Skips these tenants. Returns null if none is due. */
  async claim(busyTenants: readonly string[]): Promise<MachinePlace | null> {
    const [claimed] = await returning<MachinePlace>(
      this.dataSource.manager,
      `UPDATE machine_places SET due_at = platform_now() + $1 * interval '1 millisecond'
       WHERE machine_place_id = (SELECT machine_place_id FROM machine_places
         WHERE due_at <= platform_now() AND tenant_id <> ALL($2::uuid[])
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING ${PLACE}`,
      [CLAIM_TIMEOUT_MS, busyTenants],
    );
    return claimed ?? null;
  }

  /**
   * Records the result of a sweep. If nothing could be removed, the pause before the next sweep doubles. A place that has
   * been quiet for long is not swept until a node is planned there.
   */
  async recordSweep(machinePlaceId: number, { orphans, removed }: SweepOutcome): Promise<void> {
    await this.dataSource.query(
      `UPDATE machine_places p SET swept_at = platform_now(), orphans = $2,
         failures = CASE WHEN $2 > 0 AND $3 = 0 THEN failures + 1 ELSE 0 END,
         quiet_since = CASE WHEN $2 = 0 AND NOT ${HAS_NODES} THEN coalesce(quiet_since, platform_now()) END,
         due_at = CASE
           WHEN $3 > 0 THEN platform_now() + $4 * interval '1 millisecond'
           WHEN $2 > 0 THEN ${backoffFrom('$5', '$6')}
           WHEN NOT ${HAS_NODES} AND quiet_since < platform_now() - $7 * interval '1 millisecond' THEN 'infinity'
           ELSE platform_now() + $5 * interval '1 millisecond' END
       WHERE machine_place_id = $1`,
      [machinePlaceId, orphans, removed, RESWEEP_DELAY_MS, SWEEP_INTERVAL_MS, MAX_SWEEP_INTERVAL_MS, WATCH_EMPTY_MS],
    );
  }

  /** Records a failed sweep and doubles the pause before the next one. Returns the number of failures in a row. */
  async recordFailure(machinePlaceId: number): Promise<number> {
    const [row] = await returning<Pick<MachinePlace, 'failures'>>(
      this.dataSource.manager,
      `UPDATE machine_places SET failures = failures + 1,
         due_at = ${backoffFrom('$2', '$3')}
       WHERE machine_place_id = $1 RETURNING failures`,
      [machinePlaceId, SWEEP_INTERVAL_MS, MAX_SWEEP_INTERVAL_MS],
    );
    return row?.failures ?? 0;
  }

  /** Releases a claimed place that was not swept. Another worker may claim it after `ms` milliseconds. */
  async release(machinePlaceId: number, ms: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE machine_places SET due_at = platform_now() + $2 * interval '1 millisecond' WHERE machine_place_id = $1`,
      [machinePlaceId, ms],
    );
  }
}
