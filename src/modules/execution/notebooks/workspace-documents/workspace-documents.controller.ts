import { Body, Controller, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Allow } from '../../../../platform/kernel/auth/access';
import type { WorkspaceScope } from '../../../../platform/kernel/auth/principal';
import { InWorkspace } from '../../../../platform/http/auth/request-principal';
import { sendContent } from '../../../../platform/http/file-response';
import { Responses, Operation } from '../../../../platform/http/operation';
import {
  MAX_CONFIGURATIONS,
  WorkspaceExport,
  WorkspaceExportQuery,
  WorkspaceImportQuery,
  WorkspaceImportResult,
} from './dto/workspace-document.dto';
import { SETTING_NAMES } from '../../runs';
import { WorkspaceDocumentsService } from './workspace-documents.service';

const tag = 'Workspaces';
const MIB = 1024 * 1024;

@Controller()
export class WorkspaceDocumentsController {
  constructor(private readonly documents: WorkspaceDocumentsService) {}

  @Operation({
    method: 'GET',
    path: '/workspace/export',
    id: 'exportWorkspace',
    summary: 'Export a workspace as a JSON file (`WorkspaceExport`)',
    description:
      'Sends the job and notebook configurations of the workspace as one JSON file, which `importWorkspace` reads. Notebooks are exported with their cells and outputs; files of the workspace are not. Values in conf, Java properties and extra_info whose names look like secrets are exported empty.',
    tag,
    access: Allow.workspace('VIEW'),
    response: Responses.binary,
  })
  async export(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceExportQuery,
    @Res() response: Response,
  ): Promise<void> {
    await sendContent(response, this.documents.export(scope, query));
  }

  @Operation({
    method: 'POST',
    path: '/workspace/import',
    id: 'importWorkspace',
    summary: 'Import a WorkspaceExport into a workspace',
    description:
      'Creates the configurations of the document in the workspace, for the cluster in the query; notebooks are written as files. Existing names are refused with 409 unless `overwrite` is true. If one is invalid, nothing is imported; with `permissive`, the others are imported and the invalid ones are reported.',
    tag,
    access: Allow.workspace('EDIT'),
    response: Responses.one(WorkspaceImportResult),
    errors: [409],
    document: { maxBytes: 30 * MIB, maxValues: MAX_CONFIGURATIONS * (SETTING_NAMES.length + 16) },
  })
  import(
    @InWorkspace() scope: WorkspaceScope,
    @Query() query: WorkspaceImportQuery,
    @Body() document: WorkspaceExport,
  ): Promise<WorkspaceImportResult> {
    return this.documents.import(scope, query, document);
  }
}
