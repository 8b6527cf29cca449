import { Controller, Query } from '@nestjs/common';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { Principal, TenantScope } from '../../../../platform/kernel/auth/principal';
import { CurrentPrincipal, CurrentScope } from '../../../../platform/http/auth/request-principal';
import { Responses, Operation } from '../../../../platform/http/operation';
import { OnPremNodeResources, OnPremNodesQuery } from './dto/onprem-nodes.dto';
import { OnPremNodesService } from './onprem-nodes.service';

@Controller()
export class OnPremNodesController {
  constructor(private readonly service: OnPremNodesService) {}

  @Operation({
    method: 'GET',
    path: '/cluster/cloud/environment/onprem/nodes',
    id: 'listOnPremNodeResources',
    summary: 'List the online nodes of an on-premises endpoint with their resources',
    description:
      'Queries the hypervisor at the endpoint, with the credentials, and returns processors, memory and disks of its hosts that are online. Nothing is stored.',
    tag: 'Infrastructure',
    access: Allow.tenant(),
    response: Responses.one(OnPremNodeResources),
  })
  list(
    @CurrentPrincipal() principal: Principal,
    @CurrentScope() scope: TenantScope,
    @Query() query: OnPremNodesQuery,
  ): Promise<OnPremNodeResources> {
    return this.service.list(principal, scope, query);
  }
}
