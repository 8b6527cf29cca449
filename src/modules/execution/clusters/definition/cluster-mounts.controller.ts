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
    description:
      'Returns the mounts that the jobs of a cluster see, or the clusters whose jobs see a mount. One of cluster_id and mount_id is required.',
    tag: 'Mounts',
    access: Allow.tenant(),
    response: Responses.one(ClusterMountPage),
  })
  list(@CurrentScope() scope: TenantScope, @Query() query: ClusterMountsQuery): Promise<ClusterMountPage> {
    return this.clusterMounts.list(scope, query);
  }
}
