import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { JobConfExport } from '../../../runs';
import { NotebookConfExport } from '../../content/dto/notebook-conf.dto';

/** Version of the documents that this release writes. It also reads earlier versions. */
export const FORMAT_VERSION = 2;

export const MAX_CONFIGURATIONS = 10_000;

export class WorkspaceExportQuery extends RecordSelectorQuery('workspace') {
  @Param.boolean({ description: 'true exports enabled configurations, false disabled ones; both if absent' })
  enable?: boolean;
}

export class WorkspaceImportQuery extends RecordSelectorQuery('workspace') {
  @Param.id({ description: 'Id of the cluster for the imported configurations' }) cluster_id?: number;
  @Param.text({ description: 'Name of the cluster for the imported configurations' }) cluster_name?: string;
  @Param.boolean({ default: false, description: 'true replaces configurations of the same name' })
  overwrite: boolean = false;
  @Param.boolean({
    default: false,
    description: 'true imports all valid configurations and reports the others; false imports all or none',
  })
  permissive: boolean = false;
}

@About('The workspace from which a document was exported. An import copies its description and ignores its name.')
export class ExportedWorkspace {
  @Field.text({ optional: true, maxLength: 64, description: 'Name of the workspace, at most 64 characters' })
  name?: string;
  @Field.description() description?: string | null;
}

/** The document of a workspace: `exportWorkspace` writes it, and `importWorkspace` reads it. */
@Example({
  format_version: FORMAT_VERSION,
  workspace: { name: 'example-workspace', description: 'An example' },
  spark_job_confs: [{ name: 'imported-job', job_type: 'Python3', command: 'demo/machine_types.py' }],
  notebook_confs: [],
})
@About('The job and notebook configurations of a workspace in a document. It has no secret values.')
export class WorkspaceExport {
  @Field.int32({ optional: true, min: 1, description: 'Version of the document, 1 if absent' }) format_version?: number;
  @Field.timestamp({ optional: true, description: 'When the document was written; an import does not use it' })
  exported_at?: string;
  @Field.object(() => ExportedWorkspace, { description: 'The workspace from which the document was exported' })
  workspace: ExportedWorkspace;
  @Field.unreadObjects(() => JobConfExport, {
    default: [],
    maxItems: MAX_CONFIGURATIONS,
    description: 'The job configurations, at most 10,000',
  })
  spark_job_confs: unknown[] = [];
  @Field.unreadObjects(() => NotebookConfExport, {
    default: [],
    maxItems: MAX_CONFIGURATIONS,
    description: 'The notebook configurations with their cells, at most 10,000',
  })
  notebook_confs: unknown[] = [];
}

const CONFIGURATION_KINDS = nameEnum(
  'ConfigurationKind',
  ['spark_job_conf', 'notebook_conf'],
  'What a configuration describes.',
);

@About('How many configurations were imported.')
class ImportedCounts {
  @Field.int64({ description: 'Number of job configurations that were created or replaced' }) spark_job_confs: number;
  @Field.int64({ description: 'Number of notebook configurations that were created or replaced' })
  notebook_confs: number;
}

@About('A configuration that was not imported.')
export class FailedImport {
  @Field.oneOf(CONFIGURATION_KINDS, { description: 'Kind of the configuration' }) kind:
    | 'spark_job_conf'
    | 'notebook_conf';
  @Field.text({ description: 'Name of the configuration' }) name: string;
  @Field.text({ description: 'Stable code of the error that creating it would return' }) error_code: string;
  @Field.text({ description: 'What is wrong, in one sentence' }) error_message: string;
}

@About('What an import did.')
export class WorkspaceImportResult {
  @Field.text({ description: 'What was done, in one sentence' }) message: string;
  @Field.idText() workspace_id: string;
  @Field.object(() => ImportedCounts, { description: 'How many configurations were imported' })
  imported: ImportedCounts;
  @Field.objects(() => FailedImport, {
    description: 'Configurations that were not imported; empty unless the import is permissive',
  })
  failed: FailedImport[];
}
