import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HostResources } from '../../../../../libs/compute-drivers/host-resources';
import { rows, type Db, type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import type { LocalHost } from './entities/local-host.entity';

/** A machine is offline after this time without a report, that is, after three missed reports. */
const ONLINE_TIMEOUT = '30 seconds';
/** A report counts for this long, so that its machine stays known while its worker is replaced. */
const REPORT_TIMEOUT = '5 minutes';
/** After this time without a report a machine has been removed or renamed. */
const RETENTION = '1 day';

/** Stores reports of machines whose workers run local nodes. They belong to no tenant. */
@Injectable()
export class LocalHostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  async online(): Promise<HostResources[]> {
    return rows<HostResources>(
      this.dataSource.manager,
      `SELECT hostname AS name, cores, cpu_usage AS "cpuUsage",
         memory_bytes AS "memoryBytes", memory_used_bytes AS "memoryUsedBytes",
         disk_bytes AS "diskBytes", disk_used_bytes AS "diskUsedBytes"
       FROM local_hosts WHERE reported_at > platform_now() - interval '${ONLINE_TIMEOUT}' ORDER BY hostname`,
    );
  }

  /** True if machines are online and none of them isolates tenants. */
  async noneIsolatesTenants(tx: Tx): Promise<boolean> {
    const [hosts] = await rows<{ some: boolean; apart: boolean }>(
      tx,
      `SELECT count(*) > 0 AS some, coalesce(bool_or(keeps_tenants_apart), false) AS apart
       FROM local_hosts WHERE reported_at > platform_now() - interval '${ONLINE_TIMEOUT}'`,
    );
    return hosts !== undefined && hosts.some && !hosts.apart;
  }

  /**
   * Returns the Spark versions of all machines with a recent report; null if there are none, or one reports no
   * versions.
   */
  async sparkVersions(db: Db): Promise<string[] | null> {
    const hosts = await rows<Pick<LocalHost, 'spark_versions'>>(
      db,
      `SELECT spark_versions FROM local_hosts WHERE reported_at > platform_now() - interval '${REPORT_TIMEOUT}'`,
    );
    const reported = hosts.map(({ spark_versions: versions }) => versions).filter((versions) => versions !== null);
    return hosts.length === 0 || reported.length < hosts.length ? null : [...new Set(reported.flat())].sort();
  }

  async hasRecentReport(db: Db): Promise<boolean> {
    const [found] = await rows<{ some: boolean }>(
      db,
      `SELECT EXISTS (SELECT 1 FROM local_hosts WHERE reported_at > platform_now() - interval '${REPORT_TIMEOUT}') AS some`,
    );
    return found?.some ?? false;
  }

  async report(host: HostResources, keepsTenantsApart: boolean, sparkVersions: readonly string[]): Promise<void> {
    const { name, cores, cpuUsage, memoryBytes, memoryUsedBytes, diskBytes, diskUsedBytes } = host;
    await inTransaction(this.dataSource, async (tx) => {
      await tx.query(
        `INSERT INTO local_hosts
           (hostname, cores, cpu_usage, memory_bytes, memory_used_bytes, disk_bytes, disk_used_bytes, keeps_tenants_apart,
            spark_versions)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         ON CONFLICT (hostname) DO UPDATE SET (cores, cpu_usage, memory_bytes, memory_used_bytes, disk_bytes,
           disk_used_bytes, keeps_tenants_apart, spark_versions, reported_at) = (excluded.cores, excluded.cpu_usage, excluded.memory_bytes,
           excluded.memory_used_bytes, excluded.disk_bytes, excluded.disk_used_bytes, excluded.keeps_tenants_apart,
           excluded.spark_versions, platform_now())`,
        [
          name,
          cores,
          cpuUsage,
          memoryBytes,
          memoryUsedBytes,
          diskBytes,
          diskUsedBytes,
          keepsTenantsApart,
          sparkVersions,
        ],
      );
      await tx.query(`DELETE FROM local_hosts WHERE reported_at < platform_now() - interval '${RETENTION}'`);
    });
  }
}
