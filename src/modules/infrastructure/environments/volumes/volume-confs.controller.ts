import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import {
  CreateVolumeConf,
  UpdateVolumeConf,
  VolumeConfListQuery,
  VolumeConfRead,
  VolumeConfSearchQuery,
  VolumeConfSelector,
  VolumeConfWrite,
} from './dto/volume-conf.dto';
import { VolumeConfsService } from './volume-confs.service';

@Controller()
export class VolumeConfsController extends ResourceController({
  one: 'VolumeConf',
  many: 'VolumeConfs',
  label: 'volume configuration',
  tag: 'Infrastructure',
  notes: {
    create:
      'Size, I/O operations and throughput must lie within the bounds of the disk type; a type with a fixed size gives the size.',
    update: 'Every cluster that uses it must be DESTROYED or in ERROR.',
    delete: 'Every cluster that uses it must be DESTROYED or in ERROR.',
  },
  path: '/machine/volume',
  listPath: '/machine/volumes',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(['PLATFORM ADMIN']),
  selector: VolumeConfSelector,
  listQuery: VolumeConfListQuery,
  searchQuery: VolumeConfSearchQuery,
  partOfName: (query: VolumeConfSearchQuery) => query.volume_conf_name,
  create: CreateVolumeConf,
  update: UpdateVolumeConf,
  read: VolumeConfRead,
  write: VolumeConfWrite,
}) {
  constructor(service: VolumeConfsService) {
    super(service);
  }
}
