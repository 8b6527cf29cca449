import type { CreateMount, UpdateMount } from '../../src/modules/infrastructure/storage/mounts/dto/mount.dto';
import type { Mount } from '../../src/modules/infrastructure/storage/mounts/entities/mount.entity';
import { REFERENCE } from './reference';
import { type Request, sample } from './sample';

type Given = 'storage_type_id' | 'source' | 'mount_point' | 'credentials_config_id';
const own = { storage_type_id: REFERENCE.storage_type_id, source: 'bucket/path', mount_point: '/mnt/data' };

/** A mount of a store that its credentials open. */
export const mount = sample<Request<CreateMount, Given>, UpdateMount, Mount, 'credentials_conf_id'>({
  path: '/cluster/mount',
  body: ({ credentials_conf_id }) => ({ ...own, credentials_config_id: credentials_conf_id }),
  change: { is_read_only: true },
  row: ({ credentials_conf_id }) => ({ ...own, credentials_conf_id }),
});
