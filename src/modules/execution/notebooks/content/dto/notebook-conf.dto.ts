import { IntersectionType, PickType } from '@nestjs/swagger';
import { SHOWN_TYPES } from '../../../../../../libs/notebooks/outputs';
import { invalid } from '../../../../../platform/kernel/errors/domain-error';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { Example, KeepsUnknownKeys } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../../platform/kernel/dto/selector';
import {
  JobClusterInfo,
  JobSettings,
  JobTypeRef,
  NOTEBOOK_LANGUAGES,
  type NotebookLanguage,
  RUN_STATUSES,
} from '../../../runs';

/** Languages of kernels under their names in requests. */
export const NOTEBOOK_TYPES = ['python3', 'scala', 'sql'] as const;
export type NotebookType = (typeof NOTEBOOK_TYPES)[number];

const LANGUAGE_OF_TYPE: Record<NotebookType, NotebookLanguage> = { python3: 'Python3', scala: 'Scala', sql: 'SQL' };

export function languageOf(type: NotebookType): NotebookLanguage {
  return LANGUAGE_OF_TYPE[type];
}

export function typeOf(language: string): NotebookType {
  return NOTEBOOK_TYPES.find((type) => LANGUAGE_OF_TYPE[type] === language) ?? 'python3';
}

/** The job settings that notebooks have, too. */
export const NOTEBOOK_SETTINGS = [
  'conf',
  'files',
  'jars',
  'packages',
  'driver_memory',
  'executor_memory',
  'driver_cores',
  'total_executor_cores',
  'executor_cores',
  'num_executors',
] as const satisfies readonly (keyof JobSettings)[];

const MAX_CELLS = 10_000;
const limit = { min: 0, description: 'Maximum number of unfinished instances at a time; 0 means no limit' } as const;
const path =
  'The .ipynb file in the workspace, by default /<notebook_name>.ipynb; an existing file becomes the notebook';

class NotebookConfBody extends PickType(JobSettings, NOTEBOOK_SETTINGS) {
  @Field.id({ optional: true }) cluster_id?: number;
  @Field.text({ optional: true, minLength: 1 }) cluster_name?: string;
}

@Example({
  notebook_name: 'example-notebook',
  notebook_type: 'python3',
  cluster_id: 1,
  driver_memory: '512m',
  executor_memory: '512m',
})
export class CreateNotebookConf extends NotebookConfBody {
  @Field.name() notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES) notebook_type: NotebookType;
  @Field.text({ optional: true, nullable: true, minLength: 1, maxLength: 1025, description: path })
  notebook_path?: string | null;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
}

@Example({ executor_memory: '512m', driver_memory: '512m' })
export class UpdateNotebookConf extends NotebookConfBody {
  @Field.name({ optional: true }) notebook_name?: string;
  @Field.int64({ ...limit, optional: true }) max_concurrency?: number;
}

export class NotebookConfSelector {
  @Param.id({ description: 'Selects the record by id' }) notebook_conf_id?: number;
  @Param.text({ description: 'Selects the record by name' }) notebook_name?: string;

  /** Throws a 400 if both id and name are absent. */
  selector(): RecordSelector {
    return notebookSelector(this);
  }
}

/** Returns the selector of a query or a body; throws a 400 if both id and name are absent. */
export function notebookSelector(request: { notebook_conf_id?: number; notebook_name?: string }): RecordSelector {
  const { notebook_conf_id: id, notebook_name: name } = request;
  if (id === undefined && name === undefined) {
    throw invalid('REQUEST.SELECTOR_MISSING', 'One of notebook_conf_id or notebook_name is required.');
  }
  return { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
}

export class CloneNotebookConfQuery extends NotebookConfSelector {
  @Field.name() new_notebook_name: string;
  @Param.text({ description: 'The .ipynb file of the new notebook, which must not exist yet' })
  clone_file_path?: string;
}

export class NotebookConfListQuery extends PageQuery {
  @Param.boolean({ description: 'true lists enabled configurations, false disabled ones; both if absent' })
  enable?: boolean;
  @Param.ids() cluster_ids?: number[];
  @Param.someOf(NOTEBOOK_LANGUAGES) job_type_langs?: string[];
  @Param.someOf(RUN_STATUSES) last_run_status?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class NotebookConfSearchQuery extends NotebookConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) notebook_name: string;
}

export class NotebookOutput {
  @Field.oneOf(SHOWN_TYPES) type: (typeof SHOWN_TYPES)[number];
  @Field.text({ description: 'Text, HTML, or the data URL of an image' }) Celloutput: string;
}

@KeepsUnknownKeys()
export class NotebookCell {
  @Field.text({
    minLength: 1,
    maxLength: 64,
    pattern: /^[A-Za-z0-9_-]+$/,
    description: 'Id of the cell in the notebook, and msg_id of the Jupyter message that executes it',
  })
  cell_uuid: string;
  @Field.text() code: string;
  @Field.oneOf(['code', 'markdown'], { default: 'code' }) cell_type: 'code' | 'markdown' = 'code';
  @Field.map({ optional: true }) metadata?: Record<string, unknown>;
  @Field.objects(() => NotebookOutput, { default: [] }) output: NotebookOutput[] = [];
}

export class UpdateNotebookCellsQuery {
  @Param.id({ description: 'Ignored: the server knows the instance of the outputs' }) run_id?: number;
}

@Example({
  cells: [{ cell_uuid: 'first-cell', code: 'spark.range(10).count()', cell_type: 'code', metadata: {}, output: [] }],
})
export class UpdateNotebookCells {
  @Field.unreadObjects(() => NotebookCell, { maxItems: MAX_CELLS }) cells: unknown[];
}

/** Settings in responses, where every key is present. */
class NotebookSettingsAnswer {
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.texts({ nullable: true }) files: string[] | null;
  @Field.texts({ nullable: true }) jars: string[] | null;
  @Field.texts({ nullable: true }) packages: string[] | null;
  @Field.text({ nullable: true }) driver_memory: string | null;
  @Field.text({ nullable: true }) executor_memory: string | null;
  @Field.int64({ nullable: true }) driver_cores: number | null;
  @Field.int64({ nullable: true }) total_executor_cores: number | null;
  @Field.int64({ nullable: true }) executor_cores: number | null;
  @Field.int64({ nullable: true }) num_executors: number | null;
}

class NotebookConfOwn extends NotebookSettingsAnswer {
  @Field.text() notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES) notebook_type: NotebookType;
  @Field.text({ description: 'The .ipynb file in the workspace' }) notebook_path: string;
  @Field.int64() max_concurrency: number;
  @Field.object(() => JobTypeRef) spark_job_type: JobTypeRef;
  @Field.uuid() tenant_id: string;
}

class NotebookConfReadFields extends IntersectionType(NotebookConfOwn, ReadAudit) {
  @Field.id() notebook_conf_id: number;
  @Field.id() cluster_id: number;
  @Field.id() workspace_id: number;
  @Field.object(() => JobClusterInfo) cluster_info: JobClusterInfo;
}

export class NotebookCells {
  @Field.objects(() => NotebookCell) cells: NotebookCell[];
}

export class NotebookConfRead extends NotebookConfReadFields {
  @Field.object(() => NotebookCells) notebook_cells: NotebookCells;
}

export class LastNotebookRun {
  @Field.id() notebook_id: number;
  @Field.oneOf(RUN_STATUSES) notebook_status: string;
}

export class NotebookConfListItem extends NotebookConfReadFields {
  @Field.object(() => LastNotebookRun, { nullable: true }) last_notebook_run: LastNotebookRun | null;
}

export class NotebookConfWrite extends IntersectionType(NotebookConfOwn, WriteAudit) {
  @Field.idText() notebook_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
}

export class ExportedCells {
  @Field.unreadObjects(() => NotebookCell, { default: [], maxItems: MAX_CELLS }) cells: unknown[] = [];
}

/** A notebook configuration in a document: without ids and cluster. Conf values that look secret are empty. */
export class NotebookConfExport extends PickType(JobSettings, NOTEBOOK_SETTINGS) {
  @Field.name() notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES) notebook_type: NotebookType;
  @Field.text({ optional: true, nullable: true, minLength: 1, maxLength: 1025 }) notebook_path?: string | null;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
  @Field.object(() => ExportedCells, { optional: true, nullable: true }) notebook_cells?: ExportedCells | null;
}
