import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { IntersectionType, PickType } from '@nestjs/swagger';
import { SHOWN_TYPES } from '../../../../../../libs/notebooks/outputs';
import { invalid } from '../../../../../platform/kernel/errors/domain-error';
import { Message, ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example, KeepsUnknownKeys } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import type { RecordSelector } from '../../../../../platform/kernel/dto/selector';
import {
  JobClusterInfo,
  JobSettings,
  JobSettingsAnswer,
  JobTypeRef,
  NOTEBOOK_LANGUAGES,
  type NotebookLanguage,
  RUN_STATUSES,
} from '../../../runs';

/** Languages of kernels under their names in requests. */
const CELL_TYPES = nameEnum('CellType', ['code', 'markdown'], 'What a cell contains.');
const OUTPUT_TYPES = nameEnum('CellOutputType', SHOWN_TYPES, 'Kind of the output of a cell.', {
  image: 'a data URL',
});
export const NOTEBOOK_TYPES = nameEnum(
  'NotebookType',
  ['python3', 'scala', 'sql'],
  'Language of the cells of a notebook.',
);
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
  'The .ipynb file in the workspace; null or absent for /<notebook_name>.ipynb. An existing file becomes the notebook';

class NotebookConfBody extends PickType(JobSettings, NOTEBOOK_SETTINGS) {
  @Field.id({
    optional: true,
    description: 'Id of the cluster on which the notebook runs; it must serve the workspace',
  })
  cluster_id?: number;
  @Field.text({
    optional: true,
    minLength: 1,
    description: 'Name of the cluster on which the notebook runs, instead of its id',
  })
  cluster_name?: string;
}

@Example({
  notebook_name: 'example-notebook',
  notebook_type: 'python3',
  cluster_id: 1,
  driver_memory: '512m',
  executor_memory: '512m',
})
@About('A notebook, the cluster on which it runs and its settings.', ['cluster_id', 'cluster_name'])
export class CreateNotebookConf extends NotebookConfBody {
  @Field.name({
    description: 'Name of the notebook: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-", unique in the workspace',
  })
  notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES, { description: 'Language of the cells. It never changes' }) notebook_type: NotebookType;
  @Field.text({ optional: true, nullable: true, minLength: 1, maxLength: 1025, description: path })
  notebook_path?: string | null;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
}

@Example({ executor_memory: '512m', driver_memory: '512m' })
@About(
  'Changes to a notebook configuration; at least one. Absent fields keep their values; null clears a field. Type and file never change.',
)
export class UpdateNotebookConf extends NotebookConfBody {
  @Field.name({
    optional: true,
    description:
      'New name of the notebook: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-", unique in the workspace',
  })
  notebook_name?: string;
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

export class NotebookConfReadQuery extends NotebookConfSelector {
  @Param.boolean({ default: true, description: 'false leaves the outputs of the cells out, which may be large' })
  with_outputs: boolean = true;
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
  @Field.name({
    description: 'Name of the copy: 1 to 64 characters of a-z, 0-9, ".", "@", "_" and "-", unique in the workspace',
  })
  new_notebook_name: string;
  @Param.text({ description: 'The .ipynb file of the new notebook, which must not exist yet' })
  clone_file_path?: string;
}

export class NotebookConfListQuery extends PageQuery {
  @Param.boolean({ description: 'true lists enabled configurations, false disabled ones; both if absent' })
  enable?: boolean;
  @Param.ids({ description: 'Only notebooks that run on these clusters' }) cluster_ids?: number[];
  @Param.someOf(NOTEBOOK_LANGUAGES, { description: 'Only notebooks in these languages' }) job_type_langs?: string[];
  @Param.someOf(RUN_STATUSES, { description: 'Only notebooks whose newest instance has one of these statuses' })
  last_run_status?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class NotebookConfSearchQuery extends NotebookConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) notebook_name: string;
}

@About('An output of a cell.')
export class NotebookOutput {
  @Field.oneOf(OUTPUT_TYPES, { description: 'Kind of the output' }) type: (typeof SHOWN_TYPES)[number];
  @Field.text({ description: 'Text, HTML, or the data URL of an image' }) Celloutput: string;
}

@KeepsUnknownKeys()
@About('A cell of a notebook. Keys that are not listed here are kept.')
export class NotebookCell {
  @Field.text({
    minLength: 1,
    maxLength: 64,
    pattern: /^[A-Za-z0-9_-]+$/,
    description: 'Id of the cell in the notebook, and msg_id of the Jupyter message that executes it',
  })
  cell_uuid: string;
  @Field.text({ description: 'Text of the cell' }) code: string;
  @Field.oneOf(CELL_TYPES, {
    default: 'code',
    description: 'code for a cell that a kernel executes, markdown for text',
  })
  cell_type: 'code' | 'markdown' = 'code';
  @Field.map({ optional: true, description: 'JSON for the use of clients, which is kept in the file' })
  metadata?: Record<string, unknown>;
  @Field.objects(() => NotebookOutput, { default: [], description: 'Outputs of the last execution, in their order' })
  output: NotebookOutput[] = [];
}

export class UpdateNotebookCellsQuery {
  @Param.id({ description: 'Ignored: the server knows which instance the outputs are from' }) run_id?: number;
  @Param.id({
    description:
      'The revision_id that you have read. If the notebook has another one by now, the request is refused with 409. With it, cells without `output` keep their outputs',
  })
  revision_id?: number;
}

@About('Says what was done, and names the revision that the notebook has now.')
export class NotebookCellsWritten extends Message {
  @Field.id({ description: 'Current revision of the notebook: of its cells and their metadata, without outputs' })
  revision_id: number;
}

@Example({
  cells: [{ cell_uuid: 'first-cell', code: 'spark.range(10).count()', cell_type: 'code', metadata: {}, output: [] }],
})
@About('The cells of the notebook, in their order.')
export class UpdateNotebookCells {
  @Field.unreadObjects(() => NotebookCell, {
    maxItems: MAX_CELLS,
    description: 'All cells in their order, at most 10,000; cells that are left out are removed',
  })
  cells: unknown[];
}

/** Settings in responses, where every key is present. */
export class NotebookSettingsAnswer extends PickType(JobSettingsAnswer, NOTEBOOK_SETTINGS) {}

class NotebookConfOwn extends NotebookSettingsAnswer {
  @Field.text({ description: 'Name of the notebook, unique in the workspace' }) notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES, { description: 'Language of the cells. It never changes' }) notebook_type: NotebookType;
  @Field.text({ description: 'The .ipynb file in the workspace' }) notebook_path: string;
  @Field.int64({ description: 'Maximum number of unfinished instances at a time; 0 means no limit' })
  max_concurrency: number;
  @Field.object(() => JobTypeRef, { description: 'Type and language, as jobs have them' }) spark_job_type: JobTypeRef;
  @Field.uuid() tenant_id: string;
}

class NotebookConfReadFields extends IntersectionType(NotebookConfOwn, ReadAudit) {
  @Field.id() notebook_conf_id: number;
  @Field.id() cluster_id: number;
  @Field.id() workspace_id: number;
  @Field.object(() => JobClusterInfo, { description: 'The cluster on which the notebook runs' })
  cluster_info: JobClusterInfo;
}

@About('The cells of a notebook, in their order.')
export class NotebookCells {
  @Field.objects(() => NotebookCell, { description: 'The cells in their order' }) cells: NotebookCell[];
}

@About('A notebook configuration: a notebook with its cells, the cluster on which it runs and its settings.')
export class NotebookConfRead extends NotebookConfReadFields {
  @Field.id({
    description:
      'Current revision of the notebook. It changes with its cells and their metadata, and not with their outputs',
  })
  revision_id: number;
  @Field.object(() => NotebookCells, { description: 'The cells with their current outputs' })
  notebook_cells: NotebookCells;
}

@About('The newest instance of a notebook.')
export class LastNotebookRun {
  @Field.id() notebook_id: number;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the instance now' }) notebook_status: string;
}

@About('A notebook configuration in a list, without its cells but with its newest instance.')
export class NotebookConfListItem extends NotebookConfReadFields {
  @Field.object(() => LastNotebookRun, {
    nullable: true,
    description: 'The newest instance of the notebook; null if there is none',
  })
  last_notebook_run: LastNotebookRun | null;
}

@About('A notebook configuration as returned by a write. Ids are decimal strings.')
export class NotebookConfWrite extends IntersectionType(NotebookConfOwn, WriteAudit) {
  @Field.idText() notebook_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
}

@About('The cells of a notebook in a document.')
export class ExportedCells {
  @Field.unreadObjects(() => NotebookCell, {
    default: [],
    maxItems: MAX_CELLS,
    description: 'The cells in their order, at most 10,000',
  })
  cells: unknown[] = [];
}

/** A notebook configuration in a document: without ids and cluster. Conf values that look secret are empty. */
@About(
  'A notebook configuration in a document: without ids and cluster. Values of conf whose names look like secrets are empty.',
)
export class NotebookConfExport extends PickType(JobSettings, NOTEBOOK_SETTINGS) {
  @Field.name({ description: 'Name of the notebook, by which an import finds an existing one' }) notebook_name: string;
  @Field.oneOf(NOTEBOOK_TYPES, { description: 'Language of the cells' }) notebook_type: NotebookType;
  @Field.text({
    optional: true,
    nullable: true,
    minLength: 1,
    maxLength: 1025,
    description: 'The .ipynb file in the workspace; null or absent for /<notebook_name>.ipynb',
  })
  notebook_path?: string | null;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
  @Field.object(() => ExportedCells, {
    optional: true,
    nullable: true,
    description: 'The cells; null or absent for none',
  })
  notebook_cells?: ExportedCells | null;
}
