import { MEMORY_FORM, MEMORY_MEANING } from '../../../../../../libs/spark/memory-text';
import { nameEnum } from '../../../../../platform/kernel/dto/named-enums';
import { IntersectionType } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import type { Meaning } from '../../../../../platform/kernel/dto/field-meanings';
import { About, Example, FieldsMean } from '../../../../../platform/kernel/dto/schemas';
import { PageQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLUSTER_STATUSES, CLUSTER_TYPES } from '../../../clusters';
import { SPARK_JOB_TYPES } from '../../../../foundation/reference-data';
import { JOB_LANGUAGE_FILTERS, JOB_LANGUAGES } from '../job-types';
import { RUN_STATUSES } from '../run-state';

const DEPLOY_MODES = nameEnum(
  'DeployMode',
  ['client', 'cluster'],
  "Spark's deploy mode. In both, the driver runs on a node of the cluster.",
);

const text = { optional: true, nullable: true } as const;
const setting = { optional: true, nullable: true, minLength: 1 } as const;
const memory = { ...text, pattern: MEMORY_FORM, meaning: MEMORY_MEANING, showsValue: true } as const;
const limit = { min: 0, description: 'Maximum number of unfinished runs at a time; 0 means no limit' } as const;
const count = { optional: true, nullable: true, min: 1, max: 100_000 } as const;

const OF_OTHER_TYPES = 'for jobs of other types';
const NONE = 'for none';
const OF_SPARK = "for Spark's default";
const FILE =
  'a path in the workspace, a full_file_path of the object storage manager of the cluster, or a URI that Spark reads';

/** Meanings of the settings of a job configuration, in requests and responses. */
const SETTINGS: Record<keyof JobSettings, Meaning> = {
  deploy_mode: { is: 'Has no effect, because the driver always runs on a node of the cluster', null: 'means the same' },
  class_name: { is: 'Main class of a Jar job', null: OF_OTHER_TYPES },
  command: { is: `The program of a Python3 or Jar job: ${FILE}`, null: OF_OTHER_TYPES },
  arguments: { is: 'Arguments of the program, split as in a POSIX shell, but without expansions', null: NONE },
  rawScalaCode: { is: 'Source text of RAW_SCALA and SQL jobs, at most 1,000,000 characters', null: OF_OTHER_TYPES },
  extra_info: { is: 'JSON for the use of clients, which the platform stores and does not read', null: NONE },
  job_timeout_min: { is: 'Timeout in minutes, after which a run ends as TERMINATED', null: 'for no timeout' },
  files: { is: `Files that the program can read. Each is ${FILE}; a URI must not contain a comma`, null: NONE },
  properties_file: { is: 'Files with Spark properties, found like `files`; those in `conf` win', null: NONE },
  conf: {
    is:
      'Spark properties, each as key=value, except those that the platform sets; blanks are part of the value. A size, time or number of a ' +
      'common property must be one that Spark can read',
    null: NONE,
  },
  packages: { is: 'Maven coordinates (group:artifact:version) of libraries of the driver and executors', null: NONE },
  repositories: { is: 'URLs of dependency repositories that the tenant has, for `packages`', null: NONE },
  jars: { is: 'Jar files of the driver and executors, found like `files`', null: NONE },
  archives: {
    is:
      'Archives for the driver and executors, found like `files`; `path#folder` unpacks one to that folder in their working ' +
      'directory',
    null: NONE,
  },
  driver_memory: { is: `Heap of the driver: ${MEMORY_MEANING}`, null: "for the job's share of the node's memory" },
  driver_java_options: { is: "Options of the driver's JVM", null: NONE },
  driver_library_path: { is: 'Path at which the driver finds native libraries', null: OF_SPARK },
  driver_class_path: { is: 'Entries to prepend to the class path of the driver', null: NONE },
  executor_memory: { is: `Heap of each executor: ${MEMORY_MEANING}`, null: OF_SPARK },
  principal: { is: 'Kerberos principal that the job authenticates as, with `keytab`', null: NONE },
  keytab: {
    is: 'Kerberos keytab of the principal: a file of the workspace, or `file:///path` on the nodes',
    null: NONE,
  },
  queue: { is: 'Passed to Spark as its queue, which standalone clusters and local mode ignore', null: NONE },
  driver_cores: { is: 'Cores of the driver, 1 to 100,000', null: OF_SPARK },
  total_executor_cores: { is: 'Cores of all executors together, 1 to 100,000', null: 'for no limit of its own' },
  executor_cores: { is: 'Cores of each executor, 1 to 100,000', null: OF_SPARK },
  num_executors: {
    is: 'Number of executors, with `executor_cores` (1 if absent) each; ignored if `total_executor_cores` is set',
    null: OF_SPARK,
  },
  platform_functions_project_path: {
    is: "Folder of the workspace that is copied to each run and put on Python's path",
    null: 'for the folder of the script',
  },
  platform_functions_script_path: { is: 'The .py file of the workspace that has the function', null: OF_OTHER_TYPES },
  platform_functions_function_name: {
    is: 'Name of the Python function in the script, at most 128 characters',
    null: OF_OTHER_TYPES,
  },
  platform_functions_requirements: {
    is: 'Python packages that pip installs for this run only: lines of requirements, or the path of a .txt file in the workspace',
    null: NONE,
  },
  platform_functions_max_request_concurrency: { is: 'Maximum number of concurrent calls, 1 to 64', null: 'for 4' },
  platform_functions_request_timeout_sec: {
    is: 'Timeout of a call in seconds, 1 to 3,600; the call then ends, and its Spark jobs are cancelled',
    null: 'for 60',
  },
  platform_functions_idle_timeout_sec: {
    is: 'Idle timeout in seconds: a run without a call for this time ends as DONE',
    null: 'if it never does',
  },
  platform_functions_example_request_body: {
    is: 'JSON that the OpenAPI document of the function shows as an example of a call',
    null: NONE,
  },
};

/** Settings of a job configuration under their contract names. */
@FieldsMean(SETTINGS)
export class JobSettings {
  @Field.oneOf(DEPLOY_MODES, {
    ...text,
  })
  deploy_mode?: string | null;
  @Field.text(text) class_name?: string | null;
  @Field.text(text) command?: string | null;
  @Field.text(text)
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value), {
    toClassOnly: true,
  })
  arguments?: string | null;
  @Field.text({ ...text, maxLength: 1_000_000 })
  rawScalaCode?: string | null;
  @Field.map(text) extra_info?: Record<string, unknown> | null;
  @Field.int64({
    optional: true,
    nullable: true,
    min: 1,
    max: 1_000_000,
  })
  job_timeout_min?: number | null;
  @Field.texts(text)
  files?: string[] | null;
  @Field.texts(text) properties_file?: string[] | null;
  @Field.texts(text)
  conf?: string[] | null;
  @Field.texts(text) packages?: string[] | null;
  @Field.texts(text)
  repositories?: string[] | null;
  @Field.texts(text) jars?: string[] | null;
  @Field.texts(text)
  archives?: string[] | null;
  @Field.text(memory) driver_memory?: string | null;
  @Field.text(setting) driver_java_options?: string | null;
  @Field.text(setting) driver_library_path?: string | null;
  @Field.text(setting) driver_class_path?: string | null;
  @Field.text(memory) executor_memory?: string | null;
  @Field.text(setting) principal?: string | null;
  @Field.text(setting)
  keytab?: string | null;
  @Field.text(setting) queue?: string | null;
  @Field.int64(count) driver_cores?: number | null;
  @Field.int64(count) total_executor_cores?: number | null;
  @Field.int64(count) executor_cores?: number | null;
  @Field.int64(count)
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
  @Field.id({
    optional: true,
    description: 'Id of the cluster on which the configuration runs; it must serve the workspace',
  })
  cluster_id?: number;
  @Field.text({
    optional: true,
    minLength: 1,
    description: 'Name of the cluster on which the configuration runs, instead of its id',
  })
  cluster_name?: string;
  @Field.text({
    ...text,
    deprecated: true,
    description: 'Older name of class_name, which wins if both are sent; null means the same',
  })
  job_class_name?: string | null;
  @Field.text({
    ...text,
    deprecated: true,
    description: 'Older name of command, which wins if both are sent; null means the same',
  })
  job_command?: string | null;
  @Field.text({
    ...text,
    deprecated: true,
    description: 'Older name of arguments, which wins if both are sent; null means the same',
  })
  @Transform(({ value }: { value: unknown }) => (typeof value === 'number' ? String(value) : value), {
    toClassOnly: true,
  })
  job_arguments?: string | null;
  @Field.text({
    ...text,
    deprecated: true,
    description: 'Older name of rawScalaCode, which wins if both are sent; null means the same',
  })
  job_rawScalaCode?: string | null;
}

/** A job configuration in a document: without ids and cluster. Conf values that look secret are empty. */
@About(
  'A job configuration in a document: without ids and cluster. Values of conf, Java properties and extra_info whose names look like secrets are empty.',
)
export class JobConfExport extends JobSettings {
  @Field.name({ description: 'Name of the configuration, by which an import finds an existing one' }) name: string;
  @Field.oneOf(JOB_LANGUAGES, { description: 'Type of the job' }) job_type: string;
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
@About('What to run, on which cluster and with which settings.', ['cluster_id', 'cluster_name'])
export class CreateJobConf extends JobConfBody {
  @Field.name() name: string;
  @Field.int64({ ...limit, default: 0 }) max_concurrency: number = 0;
  @Field.oneOf(JOB_LANGUAGES, {
    optional: true,
    description:
      'Type of the job. If it is absent, the job is RAW_SCALA if it has rawScalaCode, else Python3 if command ends with .py, else Jar',
  })
  job_type?: string;
}

@Example({ executor_memory: '512m', driver_memory: '512m' })
@About(
  'Changes to a job configuration; at least one. Absent fields keep their values; null clears a field. The type of the job cannot be changed.',
)
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
  @Param.ids({ description: 'Only configurations of these clusters' }) cluster_ids?: number[];
  @Param.someOf(SPARK_JOB_TYPES, { description: 'Only configurations of these types' }) job_type?: string[];
  @Param.someOf(JOB_LANGUAGE_FILTERS, { description: 'Only configurations in these languages' })
  job_type_langs?: string[];
  @Param.someOf(RUN_STATUSES, { description: 'Only configurations whose newest job has one of these statuses' })
  last_run_status?: string[];
  @Param.ids() created_by_ids?: number[];
  @Param.ids() modified_by_ids?: number[];
}

export class JobConfSearchQuery extends JobConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) job_conf_name: string;
}

@About('Type and language of a job or notebook.')
export class JobTypeRef {
  @Field.text({ description: 'Type, such as SPARK_JOB, NOTEBOOK, THRIFT_SQL or PLATFORM_FUNCTIONS' }) job_type: string;
  @Field.text({ description: 'Language: RAW_SCALA, Jar, Python3, SQL or, of notebooks, Scala' }) language: string;
}

@About('The cluster on which a configuration runs.')
export class JobClusterInfo {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster' }) name: string;
  @Field.oneOf(CLUSTER_STATUSES, { description: 'State of the cluster now' }) cluster_status: string;
  @Field.oneOf(CLUSTER_TYPES, { description: 'How Spark runs on the nodes of the cluster' }) cluster_type: string;
  @Field.int64({ nullable: true, description: 'Number of nodes that the cluster has now; null if it is not known' })
  instance_size: number | null;
}

@About('The newest job of a configuration.')
export class LastJobRun {
  @Field.id() job_id: number;
  @Field.oneOf(RUN_STATUSES, { description: 'Status of the job now' }) job_status: string;
}

/** Settings in responses, where every key is present. */
@FieldsMean(SETTINGS)
export class JobSettingsAnswer {
  @Field.oneOf(DEPLOY_MODES, { nullable: true }) deploy_mode: string | null;
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

@About('The job configuration as it was when the job was submitted.')
export class JobConfSummary extends JobSettingsAnswer {
  @Field.id() job_conf_id: number;
  @Field.text({ description: 'Name of the configuration when the job was submitted' }) name: string;
  @Field.object(() => JobTypeRef, { description: 'Type and language of the job' }) spark_job_type: JobTypeRef;
}

@FieldsMean(SETTINGS)
class JobConfOwn extends JobSettingsAnswer {
  @Field.text({ description: 'Name of the configuration, unique in the workspace' }) name: string;
  @Field.int64({ description: 'Maximum number of unfinished runs at a time; 0 means no limit' })
  max_concurrency: number;
  @Field.object(() => JobTypeRef, { description: 'Type and language of the job, which cannot be changed' })
  spark_job_type: JobTypeRef;
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

@About('A job configuration: what to run, on which cluster and with which settings.')
export class JobConfRead extends IntersectionType(JobConfOwn, ReadAudit) {
  @Field.id() job_conf_id: number;
  @Field.id() cluster_id: number;
  @Field.id() workspace_id: number;
  @Field.object(() => JobClusterInfo, { description: 'The cluster on which the configuration runs' })
  cluster_info: JobClusterInfo;
}

@About('A job configuration in a list, with its newest job.')
export class JobConfListItem extends JobConfRead {
  @Field.object(() => LastJobRun, {
    nullable: true,
    description: 'The newest job of the configuration; null if there is none',
  })
  last_job_run: LastJobRun | null;
}

@About('A job configuration as returned by a write. Ids are decimal strings.')
export class JobConfWrite extends IntersectionType(JobConfOwn, WriteAudit) {
  @Field.idText() job_conf_id: string;
  @Field.idText() cluster_id: string;
  @Field.idText() workspace_id: string;
}
