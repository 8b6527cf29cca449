import { Controller, Query } from '@nestjs/common';
import { CurrentPrincipal, CurrentScope, WorkspaceIfNamed } from '../../../../platform/http/auth/request-principal';
import { Operation, Responses } from '../../../../platform/http/operation';
import { Allow } from '../../../../platform/kernel/auth/access';
import {
  isTenantAdmin,
  type Principal,
  type TenantScope,
  type WorkspaceContext,
} from '../../../../platform/kernel/auth/principal';
import { RunList, RunListQuery } from './dto/run-list.dto';
import { RunListsService } from './run-lists.service';

@Controller()
export class RunListsController {
  constructor(private readonly lists: RunListsService) {}

  @Operation({
    method: 'GET',
    path: '/runs',
    id: 'listRuns',
    summary: 'List runs of all workspaces that you may see',
    description:
      'An extension of this platform. Returns jobs and notebook instances, functions and SQL servers included, of the named workspace, or of every workspace of the tenant that you may view: of all for an administrator. Follow `next` with the same filters to read on; runs that are submitted meanwhile neither move nor repeat others.',
    tag: 'Jobs',
    access: Allow.workspaceIfNamed('VIEW'),
    response: Responses.one(RunList),
  })
  list(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @WorkspaceIfNamed() workspace: WorkspaceContext | null,
    @Query() query: RunListQuery,
  ): Promise<RunList> {
    const workspaceId = workspace?.workspaceId ?? null;
    return this.lists.list({ ...scope, everyone: isTenantAdmin(principal), workspaceId }, query);
  }
}
