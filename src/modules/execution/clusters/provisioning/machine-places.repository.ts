import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { firstRow, returning, type Tx } from '../../../../platform/kernel/persistence/sql';
import { ofTenant } from '../../../../platform/kernel/persistence/tenant-condition';
import type { MachinePlace } from '../model/entities/machine-place.entity';

/** What tells one place from another. */
export type MachinePlaceKey = Pick<
  MachinePlace,
  'tenant_id' | 'credentials_conf_id' | 'cloud_provider_id' | 'endpoint' | 'account' | 'region'
>;

/** What a sweep found. */
export interface SweepOutcome {
  /** How many nodes without a cluster had something there. */
  orphans: number;
  /** For how many of them something was removed: what it leaves behind follows soon. */
  removed: number;
}

const EVERY_MS = 10 * 60_000;
const AGAIN_MS = 2 * 60_000;
const MAX_PAUSE_MS = 6 * 60 * 60_000;
/** How long somebody who has taken a place may be busy with it; then others take it. */
const CLAIM_MS = 5 * 60_000;
/** A place without nodes is watched for so long: what a provider was asked for may appear late. */
const QUIET_MS = 60 * 60_000;

const PLACE =
  'machine_place_id, tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region, failures';

const HAS_NODES = `EXISTS (SELECT 1 FROM cluster_nodes n WHERE n.machine_place_id = p.machine_place_id
  AND n.to_date = 'infinity')`;

/** After the first pause twice as long each time, up to the longest. */
const LATER = (first: string, longest: string) =>
  `platform_now() + least(${first} * power(2, least(failures, 10)), ${longest}) * interval '1 millisecond'`;

/** Where machines may be. The platform's own: places are taken in the order in which they are due, whosever they are. */
@Injectable()
export class MachinePlacesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The id of the place, which is watched from now on, or goes on being watched. */
  async hold(tx: Tx, key: MachinePlaceKey): Promise<number> {
    const { tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region } = key;
    const params = [tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region];
    // A place that was not quiet is watched for an hour more at least, and not locked by everybody who plans there.
    const watched = await firstRow<Pick<MachinePlace, 'machine_place_id'>>(
      tx,
      `SELECT machine_place_id FROM machine_places p WHERE ${ofTenant('p', '$1')} AND credentials_conf_id = $2
         AND cloud_provider_id = $3 AND endpoint = $4 AND account = $5 AND region = $6 AND quiet_since IS NULL
         AND due_at < 'infinity'`,
      params,
    );
    if (watched) return watched.machine_place_id;
    const [held] = await returning<Pick<MachinePlace, 'machine_place_id'>>(
      tx,
      `INSERT INTO machine_places (tenant_id, credentials_conf_id, cloud_provider_id, endpoint, account, region, due_at)
       VALUES ($1, $2, $3, $4, $5, $6, platform_now() + $7 * interval '1 millisecond')
       ON CONFLICT ON CONSTRAINT uq_machine_places DO UPDATE
         SET quiet_since = NULL, due_at = least(machine_places.due_at, excluded.due_at)
       RETURNING machine_place_id`,
      [...params, EVERY_MS],
    );
    if (!held) throw new Error('A place was neither found nor made');
    return held.machine_place_id;
  }

  /** Takes the place that is due for longest, and is of none of these tenants, for some minutes; null if none is due. */
  async take(busyTenants: readonly string[]): Promise<MachinePlace | null> {
    const [taken] = await returning<MachinePlace>(
      this.dataSource.manager,
      `UPDATE machine_places SET due_at = platform_now() + $1 * interval '1 millisecond'
       WHERE machine_place_id = (SELECT machine_place_id FROM machine_places
         WHERE due_at <= platform_now() AND tenant_id <> ALL($2::uuid[])
         ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING ${PLACE}`,
      [CLAIM_MS, busyTenants],
    );
    return taken ?? null;
  }

  /**
   * Notes what a sweep found. Where nothing of it could be removed, the next one follows later after each such sweep. A place
   * that has been quiet for long is left alone until a node is planned there.
   */
  async swept(machinePlaceId: number, { orphans, removed }: SweepOutcome): Promise<void> {
    await this.dataSource.query(
      `UPDATE machine_places p SET swept_at = platform_now(), orphans = $2,
         failures = CASE WHEN $2 > 0 AND $3 = 0 THEN failures + 1 ELSE 0 END,
         quiet_since = CASE WHEN $2 = 0 AND NOT ${HAS_NODES} THEN coalesce(quiet_since, platform_now()) END,
         due_at = CASE
           WHEN $3 > 0 THEN platform_now() + $4 * interval '1 millisecond'
           WHEN $2 > 0 THEN ${LATER('$5', '$6')}
           WHEN NOT ${HAS_NODES} AND quiet_since < platform_now() - $7 * interval '1 millisecond' THEN 'infinity'
           ELSE platform_now() + $5 * interval '1 millisecond' END
       WHERE machine_place_id = $1`,
      [machinePlaceId, orphans, removed, AGAIN_MS, EVERY_MS, MAX_PAUSE_MS, QUIET_MS],
    );
  }

  /** Notes that a sweep failed: the next one follows later after each failure. Answers how many have failed in a row. */
  async failed(machinePlaceId: number): Promise<number> {
    const [row] = await returning<Pick<MachinePlace, 'failures'>>(
      this.dataSource.manager,
      `UPDATE machine_places SET failures = failures + 1,
         due_at = ${LATER('$2', '$3')}
       WHERE machine_place_id = $1 RETURNING failures`,
      [machinePlaceId, EVERY_MS, MAX_PAUSE_MS],
    );
    return row?.failures ?? 0;
  }

  /** Gives back what was taken and not looked at: another worker may take it after so long. */
  async giveBack(machinePlaceId: number, ms: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE machine_places SET due_at = platform_now() + $2 * interval '1 millisecond' WHERE machine_place_id = $1`,
      [machinePlaceId, ms],
    );
  }
}
