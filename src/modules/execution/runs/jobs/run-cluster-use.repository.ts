import { Injectable } from '@nestjs/common';
import { ClusterUse } from '../../clusters';
import { InstanceUse } from './instance-use';
import { waitingFor } from './runs.repository';

/** Says which clusters runs keep from being idle, and which runs wait for slots. */
@Injectable()
export class RunClusterUse extends ClusterUse {
  constructor(private readonly instances: InstanceUse) {
    super();
  }

  /** Idle notebook instances do not keep a cluster running. */
  isInUse(cluster: string): string {
    const isIdle = this.instances.isIdle('r', `${cluster}.idle_timeout_ms * interval '1 millisecond'`);
    return `EXISTS (SELECT 1 FROM runs r WHERE r.cluster_id = ${cluster}.cluster_id AND r.ended_at IS NULL
      AND (r.kind = 'job' OR r.status <> 'RUNNING' OR NOT ${isIdle}))`;
  }

  waiting(cluster: string, limit: string): string {
    return `(SELECT from_date FROM runs ${waitingFor(`${cluster}.cluster_id`)} LIMIT ${limit})`;
  }
}
