import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example } from '../../../../../platform/kernel/dto/schemas';
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

export class ExportedWorkspace {
  @Field.text({ optional: true, maxLength: 64 }) name?: string;
  @Field.description() description?: string | null;
}

/** The document of a workspace: `exportWorkspace` writes it, and `importWorkspace` reads it. */
@Example({
  format_version: FORMAT_VERSION,
  workspace: { name: 'example-workspace', description: 'An example' },
  spark_job_confs: [{ name: 'imported-job', job_type: 'Python3', command: 'demo/machine_types.py' }],
  notebook_confs: [],
})
export class WorkspaceExport {
  @Field.int32({ optional: true, min: 1, description: 'Version of the document, 1 if absent' }) format_version?: number;
  @Field.timestamp({ optional: true }) exported_at?: string;
  @Field.object(() => ExportedWorkspace) workspace: ExportedWorkspace;
  @Field.unreadObjects(() => JobConfExport, { default: [], maxItems: MAX_CONFIGURATIONS })
  spark_job_confs: unknown[] = [];
  @Field.unreadObjects(() => NotebookConfExport, { default: [], maxItems: MAX_CONFIGURATIONS })
  notebook_confs: unknown[] = [];
}

class ImportedCounts {
  @Field.int64() spark_job_confs: number;
  @Field.int64() notebook_confs: number;
}

export class FailedImport {
  @Field.oneOf(['spark_job_conf', 'notebook_conf']) kind: 'spark_job_conf' | 'notebook_conf';
  @Field.text() name: string;
  @Field.text() error_code: string;
  @Field.text() error_message: string;
}

export class WorkspaceImportResult {
  @Field.text() message: string;
  @Field.idText() workspace_id: string;
  @Field.object(() => ImportedCounts) imported: ImportedCounts;
  @Field.objects(() => FailedImport) failed: FailedImport[];
}
