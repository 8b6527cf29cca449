import type {
  CreateCloudEnv,
  UpdateCloudEnv,
} from '../../src/modules/infrastructure/environments/cloud-environments/dto/cloud-env.dto';
import type { CloudEnv } from '../../src/modules/infrastructure/environments/cloud-environments/entities/cloud-env.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

type Needed = 'network_conf_id' | 'credentials_conf_id' | 'boot_disk_image_id';
const own = { cloud_provider_id: REFERENCE.cloud_provider_id, endpoint: 'https://hypervisor.example:8006' };

export const cloudEnv = sample<CreateCloudEnv, UpdateCloudEnv, CloudEnv, Needed>({
  path: '/cluster/cloud/environment',
  body: ({ network_conf_id, credentials_conf_id, boot_disk_image_id }) => {
    return { ...own, network_conf_id, credential_config_id: credentials_conf_id, boot_disk_image_id };
  },
  change: { description: 'changed' },
  row: ({ network_conf_id, credentials_conf_id, boot_disk_image_id }) => {
    return { ...own, network_conf_id, credentials_conf_id, boot_disk_image_id };
  },
});
