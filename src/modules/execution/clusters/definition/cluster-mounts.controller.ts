import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../../platform/http/operation';
import { ClusterMountsService } from './cluster-mounts.service';
import { ClusterMountPage, ClusterMountsQuery } from './dto/cluster-mount.dto';

@Controller()
export class ClusterMountsController {
  constructor(private readonly clusterMounts: ClusterMountsService) {}

  @Operation({
    method: 'GET',
    path: '/cluster/mount/map',
    id: 'listClusterMounts',
    summary: 'List the mounts of a cluster or the clusters of a mount',
    tag: 'Mounts',
    access: Allow.tenant(),
    response: Responses.one(ClusterMountPage),
  })
  list(@CurrentScope() scope: TenantScope, @Query() query: ClusterMountsQuery): Promise<ClusterMountPage> {
    return this.clusterMounts.list(scope, query);
  }
}
