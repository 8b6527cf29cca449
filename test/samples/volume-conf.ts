import type {
  CreateVolumeConf,
  UpdateVolumeConf,
} from '../../src/modules/infrastructure/environments/volumes/dto/volume-conf.dto';
import type { VolumeConf } from '../../src/modules/infrastructure/environments/volumes/entities/volume-conf.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

export const volumeConf = sample<CreateVolumeConf, UpdateVolumeConf, VolumeConf>({
  path: '/machine/volume',
  body: () => ({
    disk_type_id: REFERENCE.disk_type_id,
    size: 100,
    encrypted: false,
    machine_volume_num: 1,
    machine_volume_strip_num: 1,
  }),
  change: { description: 'changed' },
});
