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
