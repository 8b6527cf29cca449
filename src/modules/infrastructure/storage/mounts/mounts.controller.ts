import { Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import { ADMINS } from '../../../../platform/kernel/auth/roles';
import { ResourceController } from '../../../../platform/http/resources/resource-controller';
import { CreateMount, MountListQuery, MountSelector, MountWrite, UpdateMount } from './dto/mount.dto';
import { MountRead } from './mounts';
import { MountsService } from './mounts.service';

@Controller()
export class MountsController extends ResourceController({
  one: 'Mount',
  many: 'Mounts',
  label: 'mount',
  tag: 'Mounts',
  notes: {
    create:
      'The credentials must be of the provider of the storage type. Clusters name the mounts that their jobs see.',
    update:
      'Every cluster that uses it must be DESTROYED or in ERROR. The storage type and the encryption never change.',
    delete: 'Every cluster that uses it must be DESTROYED or in ERROR.',
  },
  path: '/cluster/mount',
  listPath: '/cluster/mounts',
  readAccess: Allow.tenant(),
  writeAccess: Allow.tenant(ADMINS),
  selector: MountSelector,
  listQuery: MountListQuery,
  create: CreateMount,
  update: UpdateMount,
  read: MountRead,
  write: MountWrite,
}) {
  constructor(service: MountsService) {
    super(service);
  }
}
