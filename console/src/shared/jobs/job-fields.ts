import type { CreateJobConf, JobConfRead } from 'managed-spark/types';
import { texts } from '../texts';

export type Language = keyof typeof texts.workspaces.job.types;

export const LANGUAGES = Object.keys(texts.workspaces.job.types) as Language[];

type FieldName = Exclude<keyof typeof texts.workspaces.job.fields, 'job_type' | 'cluster_id'>;

export interface JobField {
  name: FieldName;
  /** `lines` is a list with one element on each line. */
  kind: 'text' | 'number' | 'lines' | 'code';
  /** Only jobs of these types have the field; all if absent. */
  of?: readonly Language[];
}

export type GroupName = keyof typeof texts.workspaces.job.groups;

const FUNCTION = ['PLATFORM_FUNCTIONS'] as const;
const text = (name: FieldName, of?: readonly Language[]): JobField => ({ name, kind: 'text', ...(of ? { of } : {}) });
const count = (name: FieldName, of?: readonly Language[]): JobField => ({ ...text(name, of), kind: 'number' });
const lines = (name: FieldName): JobField => ({ name, kind: 'lines' });
const code = (name: FieldName, of: readonly Language[]): JobField => ({ name, kind: 'code', of });

/** The fields of a job, as the form shows them. */
export const GROUPS: Readonly<Record<GroupName, readonly JobField[]>> = {
  program: [
    text('name'),
    text('command', ['Python3', 'Jar']),
    text('class_name', ['Jar']),
    code('rawScalaCode', ['SQL', 'RAW_SCALA']),
    text('platform_functions_script_path', FUNCTION),
    text('platform_functions_function_name', FUNCTION),
    text('arguments', ['Python3', 'Jar']),
    text('platform_functions_project_path', FUNCTION),
    code('platform_functions_requirements', FUNCTION),
    code('platform_functions_example_request_body', FUNCTION),
  ],
  resources: [
    text('driver_memory'),
    count('driver_cores'),
    text('executor_memory'),
    count('executor_cores'),
    count('num_executors'),
    count('total_executor_cores'),
  ],
  limits: [
    count('job_timeout_min'),
    count('max_concurrency'),
    count('platform_functions_request_timeout_sec', FUNCTION),
    count('platform_functions_idle_timeout_sec', FUNCTION),
    count('platform_functions_max_request_concurrency', FUNCTION),
  ],
  libraries: [lines('packages'), lines('repositories'), lines('jars'), lines('files'), lines('archives')],
  spark: [
    lines('conf'),
    lines('properties_file'),
    text('driver_java_options'),
    text('driver_class_path'),
    text('driver_library_path'),
    text('queue'),
  ],
  kerberos: [text('principal'), text('keytab')],
};

export const FIELDS = Object.values(GROUPS).flat();

export type Values = Readonly<Record<string, string>>;

export function isOf({ of }: JobField, language: Language): boolean {
  return of === undefined || of.includes(language);
}

/** Returns what the form shows for a job. */
export function valuesOf(job: Partial<JobConfRead>): Values {
  return Object.fromEntries(FIELDS.map(({ name, kind }) => [name, shownOf(job[name], kind)]));
}

function shownOf(value: unknown, kind: JobField['kind']): string {
  if (value === null || value === undefined) return '';
  if (kind === 'lines') return Array.isArray(value) ? value.join('\n') : '';
  return typeof value === 'number' || typeof value === 'string' ? String(value) : '';
}

/** Returns the body of a request for the fields of a type. An empty field is unset by null, and so has its default. */
export function bodyOf(values: Values, language: Language): Partial<CreateJobConf> {
  const fields = FIELDS.filter((field) => isOf(field, language));
  const entries = fields.map((field) => [field.name, sentOf(values[field.name] ?? '', field)] as const);
  return Object.fromEntries(entries);
}

function sentOf(value: string, { name, kind }: JobField): unknown {
  if (kind === 'lines') {
    const all = value.split('\n').filter((line) => line.trim() !== '');
    return all.length > 0 ? all : null;
  }
  if (value.trim() === '') return name === 'max_concurrency' ? 0 : null;
  // A text that is no number is sent as it is, so that the API says at the field what it needs.
  if (kind === 'number') return /^-?\d+$/.test(value.trim()) ? Number(value) : value;
  return kind === 'code' ? value : value.trim();
}

/** Returns the type of the job that runs a file; null if none does. */
export function languageOf(path: string): Language | null {
  const extension = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase();
  const known: Record<string, Language> = { py: 'Python3', jar: 'Jar', sql: 'SQL', scala: 'RAW_SCALA' };
  return known[extension ?? ''] ?? null;
}

/** True if a job of the type has its text in itself, and not in a file. */
export function recordsText(language: Language): boolean {
  return language === 'SQL' || language === 'RAW_SCALA';
}

/** Returns the fields whose values differ, in the order of the form. */
export function differences(before: Values, after: Values): { name: FieldName; before: string; after: string }[] {
  return FIELDS.map(({ name }) => ({ name, before: before[name] ?? '', after: after[name] ?? '' })).filter(
    (field) => field.before !== field.after,
  );
}
