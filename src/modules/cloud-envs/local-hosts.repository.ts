import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { HostResources } from '../../../libs/compute-drivers/host-resources';
import { rows } from '../../platform/persistence/sql';

/** A machine whose last report is older is not online; three reports in a row have failed then. */
const ONLINE_FOR = '30 seconds';
/** A machine that is silent for so long has gone for good, or has another name. */
const KEPT_FOR = '1 day';

/** Machines whose workers run local nodes. They belong to no tenant. */
@Injectable()
export class LocalHostsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The machines that have reported of late, by name. */
  async online(): Promise<HostResources[]> {
    return rows<HostResources>(
      this.dataSource.manager,
      `SELECT hostname AS name, cores, cpu_usage AS "cpuUsage",
         memory_bytes AS "memoryBytes", memory_used_bytes AS "memoryUsedBytes",
         disk_bytes AS "diskBytes", disk_used_bytes AS "diskUsedBytes"
       FROM local_hosts WHERE reported_at > now() - interval '${ONLINE_FOR}' ORDER BY hostname`,
    );
  }

  /** Takes the place of the machine's last report. */
  async report(host: HostResources): Promise<void> {
    const { name, cores, cpuUsage, memoryBytes, memoryUsedBytes, diskBytes, diskUsedBytes } = host;
    await this.dataSource.transaction(async (tx) => {
      await tx.query(
        `INSERT INTO local_hosts
           (hostname, cores, cpu_usage, memory_bytes, memory_used_bytes, disk_bytes, disk_used_bytes)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (hostname) DO UPDATE SET (cores, cpu_usage, memory_bytes, memory_used_bytes, disk_bytes,
           disk_used_bytes, reported_at) = (excluded.cores, excluded.cpu_usage, excluded.memory_bytes,
           excluded.memory_used_bytes, excluded.disk_bytes, excluded.disk_used_bytes, now())`,
        [name, cores, cpuUsage, memoryBytes, memoryUsedBytes, diskBytes, diskUsedBytes],
      );
      await tx.query(`DELETE FROM local_hosts WHERE reported_at < now() - interval '${KEPT_FOR}'`);
    });
  }
}
