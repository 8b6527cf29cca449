import { Body, Controller } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { TenantScope } from '../../../../platform/kernel/auth/principal';
import { CLUSTER_MANAGERS } from '../../../../platform/kernel/auth/roles';
import { CurrentScope } from '../../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../../platform/http/operation';
import { ClusterChecksService } from './cluster-checks.service';
import { CheckCluster, ClusterCheck } from './dto/cluster-check.dto';

@Controller()
export class ClusterChecksController {
  constructor(private readonly checks: ClusterChecksService) {}

  @Operation({
    method: 'POST',
    path: '/cluster/check',
    id: 'checkCluster',
    summary: 'Check a cluster without storing it',
    description:
      'Validates a new cluster, or a change to one: returns what is missing or does not fit, by field, which choices would not fit the rest, and what the nodes cost per hour. Nothing is stored. The result is about the current records only, so create and update check everything again.',
    isExtension: true,
    tag: 'Clusters',
    access: Allow.tenant(CLUSTER_MANAGERS),
    response: Responses.one(ClusterCheck),
    auditsOnlyRefusals: true,
  })
  check(@CurrentScope() scope: TenantScope, @Body() body: CheckCluster): Promise<ClusterCheck> {
    return this.checks.check(scope, body);
  }
}
