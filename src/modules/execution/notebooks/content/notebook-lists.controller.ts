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
import type { Page } from '../../../../platform/kernel/dto/page';
import { NotebookListAllQuery, NotebookListEntry } from './dto/notebook-list.dto';
import { NotebookListsService } from './notebook-lists.service';

@Controller()
export class NotebookListsController {
  constructor(private readonly lists: NotebookListsService) {}

  @Operation({
    method: 'GET',
    path: '/notebooks',
    id: 'listNotebookConfsOfWorkspaces',
    summary: 'List the notebooks of all workspaces that you may view',
    description:
      'Returns enabled notebook configurations, newest first, of the named workspace, or of every workspace of the tenant that you may view; administrators may view all. Disabled ones are listed by `listNotebookConfs`.',
    isExtension: true,
    tag: 'Notebooks',
    access: Allow.workspaceIfNamed('VIEW'),
    response: Responses.page(NotebookListEntry),
  })
  list(
    @CurrentScope() scope: TenantScope,
    @CurrentPrincipal() principal: Principal,
    @WorkspaceIfNamed() workspace: WorkspaceContext | null,
    @Query() query: NotebookListAllQuery,
  ): Promise<Page<NotebookListEntry>> {
    const workspaceId = workspace?.workspaceId ?? null;
    return this.lists.list({ ...scope, everyone: isTenantAdmin(principal), workspaceId }, query);
  }
}
