import { Injectable } from '@nestjs/common';
import type { TenantScope } from '../../platform/auth/principal';
import { conflict } from '../../platform/errors/domain-error';
import { rows, type Tx } from '../../platform/persistence/sql';

/** Tables of records that refer to others; `key` names them in the details of an error. */
const USERS = {
  cloud_envs: { id: 'cloud_env_id', key: 'cloud_environments', label: 'cloud environments' },
  object_storage_managers: {
    id: 'object_storage_manager_id',
    key: 'object_storage_managers',
    label: 'object storage managers',
  },
  mounts: { id: 'mount_id', key: 'mounts', label: 'mounts' },
} as const;

type UsingTable = keyof typeof USERS;

/** Which tables refer to a kind of record, and by which column. */
const REFERENCES: Record<
  'network configuration' | 'credentials configuration' | 'boot disk image',
  Partial<Record<UsingTable, string>>
> = {
  'network configuration': { cloud_envs: 'network_conf_id' },
  'credentials configuration': {
    cloud_envs: 'credentials_conf_id',
    object_storage_managers: 'credentials_conf_id',
    mounts: 'credentials_conf_id',
  },
  'boot disk image': { cloud_envs: 'boot_disk_image_id' },
};

/** Records of which an error names so many. */
const NAMED = 20;

/**
 * Which records still need another one. It reads their tables only, so that what they are made of need not import them.
 */
@Injectable()
export class RecordUsageService {
  /**
   * Throws a conflict that names the users while any current record refers to this one. The caller holds its row lock,
   * which a new reference has to wait for.
   */
  async assertNotReferenced(tx: Tx, scope: TenantScope, kind: keyof typeof REFERENCES, id: number): Promise<void> {
    for (const [table, column] of Object.entries(REFERENCES[kind]) as [UsingTable, string][]) {
      const { id: idColumn, key, label } = USERS[table];
      const using = await rows<{ name: string }>(
        tx,
        `SELECT ${idColumn}, name FROM ${table}
         WHERE tenant_id = $1 AND ${column} = $2 AND to_date = 'infinity' ORDER BY ${idColumn} LIMIT ${NAMED}`,
        [scope.tenantId, id],
      );
      if (using.length === 0) continue;
      const names = using.map(({ name }) => `"${name}"`).join(', ');
      throw conflict('RECORD.IN_USE', `The ${kind} is used by the ${label} ${names}.`, { [key]: using });
    }
  }
}
