import type {
  CreateNetworkConf,
  UpdateNetworkConf,
} from '../../src/modules/infrastructure/environments/networks/dto/network-conf.dto';
import type { NetworkConf } from '../../src/modules/infrastructure/environments/networks/entities/network-conf.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

export const networkConf = sample<CreateNetworkConf, UpdateNetworkConf, NetworkConf>({
  path: '/machine/network',
  body: () => ({ cloud_provider_id: REFERENCE.cloud_provider_id, bridge: 'vmbr0', model: 'virtio' }),
  change: { model: 'e1000' },
});
