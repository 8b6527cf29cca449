import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { conflict } from '../../platform/errors/domain-error';
import { rows, type Tx } from '../../platform/persistence/sql';

/** How cloud environments `ce` refer to a record whose id is `$2`. */
const REFERENCES = {
  'network configuration': 'ce.network_conf_id = $2',
  'credentials configuration': 'ce.credentials_conf_id = $2',
  'boot disk image': 'ce.boot_disk_image_id = $2',
} as const;

interface UsingCloudEnv {
  cloud_env_id: number;
  name: string;
}

/** Which cloud environments still need a record. It reads their table only, so that what they are made of need not import them. */
@Injectable()
export class CloudEnvUsageService {
  /**
   * Throws a conflict that names the cloud environments while any current one refers to the record. The caller holds
   * the record's row lock, which a new reference has to wait for.
   */
  async assertNotReferenced(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    const using = await rows<UsingCloudEnv>(
      tx,
      `SELECT ce.cloud_env_id, ce.name FROM cloud_envs ce
       WHERE ce.tenant_id = $1 AND ${REFERENCES[kind]} AND ce.to_date = 'infinity' ORDER BY ce.cloud_env_id LIMIT 20`,
      [scope.tenantId, id],
    );
    if (using.length === 0) return;
    const names = using.map((cloudEnv) => `"${cloudEnv.name}"`).join(', ');
    throw conflict('RECORD.IN_USE', `The ${kind} is used by the cloud environments ${names}.`, {
      cloud_environments: using,
    });
  }
}
