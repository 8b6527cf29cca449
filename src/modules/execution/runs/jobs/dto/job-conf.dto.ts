import { IntersectionType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Example, Field, Param } from '../../../../../platform/kernel/dto/fields';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLUSTER_STATUSES, CLUSTER_TYPES } from '../../../clusters';
import { JOB_LANGUAGE_FILTERS, JOB_LANGUAGES, JOB_TYPES } from '../job-types';
import { RUN_STATUSES } from '../run-state';

const text = { optional: true, nullable: true } as const;
const setting = { optional: true, nullable: true, minLength: 1 } as const;
const limit = { min: 0, description: 'Maximum number of unfinished runs at a time; 0 means no limit' } as const;
const count = { optional: true, nullable: true, min: 1, max: 100_000 } as const;

/** Settings of a job configuration under their contract names. */
export class JobSettings {
  @Field.oneOf(['client', 'cluster'], {
    ...text,
    description: 'In both modes the driver runs on a node of the cluster',
  })
  deploy_mode?: string | null;
  @Field.text(text) class_name?: string | null;
  @Field.text(text) command?: string | null;
  @Field.text({ ...text, description: 'Arguments of the program, split like in a POSIX shell but without expansions' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value), {
    toClassOnly: true,
  })
  arguments?: string | null;
  @Field.text({ ...text, maxLength: 1_000_000, description: 'Source text of RAW_SCALA and SQL jobs' })
  rawScalaCode?: string | null;
  @Field.map(text) extra_info?: Record<string, unknown> | null;
  @Field.int64({
    optional: true,
    nullable: true,
    min: 1,
    max: 1_000_000,
    description: 'Minutes after which a run is ended',
  })
  job_timeout_min?: number | null;
  @Field.texts({
    ...text,
    description: 'Each entry is a path in the workspace or a URI; a URI must not contain a comma',
  })
  files?: string[] | null;
  @Field.texts(text) properties_file?: string[] | null;
  @Field.texts({
    ...text,
    description:
      'Spark properties, each as key=value, except those that the platform sets; blanks are part of the value',
  })
  conf?: string[] | null;
  @Field.texts({ ...text, description: 'Maven coordinates' }) packages?: string[] | null;
  @Field.texts({ ...text, description: 'URLs of dependency repositories that the tenant has' })
  repositories?: string[] | null;
  @Field.texts({ ...text, description: 'Like `files`' }) jars?: string[] | null;
  @Field.texts({
    ...text,
    description:
      '`path#folder` unpacks the archive to that folder in the working directory of the driver and of executors',
  })
  archives?: string[] | null;
  @Field.text(setting) driver_memory?: string | null;
  @Field.text(setting) driver_java_options?: string | null;
  @Field.text(setting) driver_library_path?: string | null;
  @Field.text(setting) driver_class_path?: string | null;
  @Field.text(setting) executor_memory?: string | null;
  @Field.text(setting) principal?: string | null;
  @Field.text({ ...setting, description: 'A file of the workspace, or `file:///path` on the nodes' })
  keytab?: string | null;
  @Field.text(setting) queue?: string | null;
  @Field.int64(count) driver_cores?: number | null;
  @Field.int64(count) total_executor_cores?: number | null;
  @Field.int64(count) executor_cores?: number | null;
  @Field.int64({
    ...count,
    description:
      'Number of executors, with `executor_cores` (1 if absent) each; ignored if `total_executor_cores` is set',
  })
  num_executors?: number | null;
  @Field.text(text) platform_functions_project_path?: string | null;
  @Field.text(text) platform_functions_script_path?: string | null;
  @Field.text(text) platform_functions_function_name?: string | null;
  @Field.text(text) platform_functions_requirements?: string | null;
  @Field.int64(count) platform_functions_max_request_concurrency?: number | null;
  @Field.int64(count) platform_functions_request_timeout_sec?: number | null;
  @Field.int64(count) platform_functions_idle_timeout_sec?: number | null;
  @Field.text(text) platform_functions_example_request_body?: string | null;
}

/** Older names that clients still send. If both names are present, the newer one wins. */
const ALIASES = {
  job_class_name: 'class_name',
  job_command: 'command',
  job_arguments: 'arguments',
  job_rawScalaCode: 'rawScalaCode',
} as const;

class JobConfBody extends JobSettings {
  @Field.id({ optional: true }) cluster_id?: number;
  @Field.text({ optional: true, minLength: 1 }) cluster_name?: string;
  @Field.text({ ...text, description: 'Alias of class_name' }) job_class_name?: string | null;
  @Field.text({ ...text, description: 'Alias of command' }) job_command?: string | null;
  @Field.text({ ...text, description: 'Alias of arguments' })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value), {
    toClassOnly: true,
  })
  job_arguments?: string | null;
  @Field.text({ ...text, description: 'Alias of rawScalaCode' }) job_rawScalaCode?: string | null;
}

/** A job configuration in a document: without ids and cluster. Conf values that look secret are empty. */
export class JobConfExport extends JobSettings {
  @Field.name() name: string;
  @Field.oneOf(JOB_LANGUAGES) job_type: string;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
}

@Example({
  name: 'example-job',
  cluster_id: 1,
  job_type: 'Python3',
  command: 'demo/machine_types.py',
  arguments: 'machine-types.jsonl',
  files: ['demo/machine-types.jsonl'],
  driver_memory: '512m',
  executor_memory: '512m',
})
export class CreateJobConf extends JobConfBody {
  @Field.name() name: string;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
  @Field.oneOf(JOB_LANGUAGES, { optional: true }) job_type?: string;
}

@Example({ executor_memory: '512m', driver_memory: '512m' })
export class UpdateJobConf extends JobConfBody {
  @Field.name({ optional: true }) name?: string;
  @Field.int64({ ...limit, optional: true }) max_concurrency?: number;
}

/** Returns the settings of a request with aliases resolved. Absent settings keep the value that they have in `before`, else null. */
export function settingsOf(body: JobConfBody, before?: Required<JobSettings>): Required<JobSettings> {
  const fields = body as unknown as Record<string, unknown>;
  const aliased = Object.fromEntries(Object.entries(ALIASES).map(([alias, name]) => [name, fields[alias]]));
  const valueOf = (name: (typeof SETTING_NAMES)[number]): unknown => {
    const isCleared = fields[name] === null || aliased[name] === null;
    return fields[name] ?? aliased[name] ?? (isCleared ? null : (before?.[name] ?? null));
  };
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, valueOf(name)])) as unknown as Required<JobSettings>;
}

export const SETTING_NAMES = [
  'deploy_mode',
  'class_name',
  'command',
  'arguments',
  'rawScalaCode',
  'extra_info',
  'job_timeout_min',
  'files',
  'properties_file',
  'conf',
  'packages',
  'repositories',
  'jars',
  'archives',
  'driver_memory',
  'driver_java_options',
  'driver_library_path',
  'driver_class_path',
  'executor_memory',
  'principal',
  'keytab',
  'queue',
  'driver_cores',
  'total_executor_cores',
  'executor_cores',
  'num_executors',
  'platform_functions_project_path',
  'platform_functions_script_path',
  'platform_functions_function_name',
  'platform_functions_requirements',
  'platform_functions_max_request_concurrency',
  'platform_functions_request_timeout_sec',
  'platform_functions_idle_timeout_sec',
  'platform_functions_example_request_body',
] as const satisfies readonly (keyof JobSettings)[];

export class JobConfSelector extends RecordSelectorQuery('job_conf') {}

export class JobConfListQuery extends PageQuery {
  @Param.boolean({ description: 'true lists enabled configurations, false disabled ones; both if absent' })
  enable?: boolean;
  @Param.ids() cluster_ids?: number[];
  @Param.someOf(JOB_TYPES) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS) job_type_langs?: string[];
  @Param.someOf(RUN_STATUSES) last_run_status?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobConfSearchQuery extends JobConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, case-insensitive' }) job_conf_name: string;
}

export class JobTypeRef {
  @Field.text() job_type: string;
  @Field.text() language: string;
}

export class JobClusterInfo {
  @Field.id() cluster_id: number;
  @Field.text() name: string;
  @Field.oneOf(CLUSTER_STATUSES) cluster_status: string;
  @Field.oneOf(CLUSTER_TYPES) cluster_type: string;
  @Field.int64({ nullable: true }) instance_size: number | null;
}

export class LastJobRun {
  @Field.id() job_id: number;
  @Field.oneOf(RUN_STATUSES) job_status: string;
}

/** Settings in responses, where every key is present. */
export class JobSettingsAnswer {
  @Field.oneOf(['client', 'cluster'], { nullable: true }) deploy_mode: string | null;
  @Field.text({ nullable: true }) class_name: string | null;
  @Field.text({ nullable: true }) command: string | null;
  @Field.text({ nullable: true }) arguments: string | null;
  @Field.text({ nullable: true }) rawScalaCode: string | null;
  @Field.texts({ nullable: true }) files: string[] | null;
  @Field.texts({ nullable: true }) properties_file: string[] | null;
  @Field.texts({ nullable: true }) conf: string[] | null;
  @Field.texts({ nullable: true }) packages: string[] | null;
  @Field.texts({ nullable: true }) repositories: string[] | null;
  @Field.texts({ nullable: true }) jars: string[] | null;
  @Field.texts({ nullable: true }) archives: string[] | null;
  @Field.text({ nullable: true }) driver_memory: string | null;
  @Field.text({ nullable: true }) driver_java_options: string | null;
  @Field.text({ nullable: true }) driver_library_path: string | null;
  @Field.text({ nullable: true }) driver_class_path: string | null;
  @Field.text({ nullable: true }) executor_memory: string | null;
  @Field.int64({ nullable: true }) driver_cores: number | null;
  @Field.int64({ nullable: true }) total_executor_cores: number | null;
  @Field.int64({ nullable: true }) executor_cores: number | null;
  @Field.int64({ nullable: true }) num_executors: number | null;
  @Field.text({ nullable: true }) principal: string | null;
  @Field.text({ nullable: true }) keytab: string | null;
  @Field.text({ nullable: true }) queue: string | null;
}

export class JobConfSummary extends JobSettingsAnswer {
  @Field.id() job_conf_id: number;
  @Field.text() name: string;
  @Field.object(() => JobTypeRef) spark_job_type: JobTypeRef;
}

class JobConfOwn extends JobSettingsAnswer {
  @Field.text() name: string;
  @Field.int64() max_concurrency: number;
  @Field.object(() => JobTypeRef) spark_job_type: JobTypeRef;
  @Field.int64({ nullable: true }) job_timeout_min: number | null;
  @Field.map({ nullable: true }) extra_info: Record<string, unknown> | null;
  @Field.text({ nullable: true }) platform_functions_project_path: string | null;
  @Field.text({ nullable: true }) platform_functions_script_path: string | null;
  @Field.text({ nullable: true }) platform_functions_function_name: string | null;
  @Field.text({ nullable: true }) platform_functions_requirements: string | null;
  @Field.int64({ nullable: true }) platform_functions_max_request_concurrency: number | null;
  @Field.int64({ nullable: true }) platform_functions_request_timeout_sec: number | null;
  @Field.int64({ nullable: true }) platform_functions_idle_timeout_sec: number | null;
  @Field.text({ nullable: true }) platform_functions_example_request_body: string | null;
  @Field.uuid() tenant_id: string;
}

export class JobConfRead extends IntersectionType(JobConfOwn, ReadAudit) {
  @Field.id() job_conf_id: number;
  @Field.id() cluster_id: number;
  @Field.id() workspace_id: number;
  @Field.object(() => JobClusterInfo) cluster_info: JobClusterInfo;
}

export class JobConfListItem extends JobConfRead {
  @Field.object(() => LastJobRun, { nullable: true }) last_job_run: LastJobRun | null;
}

export class JobConfWrite extends IntersectionType(JobConfOwn, WriteAudit) {
  @Field.idText() job_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
}
