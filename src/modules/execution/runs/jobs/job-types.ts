import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import type { RunKind, RunSpec } from '../../../../../libs/contracts/agent-protocol';

/** The resource as which the API shows a run and its configuration (column `kind`). Functions and SQL servers are jobs. */
export const RUN_RESOURCES = nameEnum('RunKind', ['job', 'notebook'], 'Which resource a run is.', {
  job: '`getJob` returns it',
  notebook: '`getNotebook` returns it',
});
export type RunResource = (typeof RUN_RESOURCES)[number];

const LANGUAGE_MEANINGS = {
  RAW_SCALA: 'the Scala code of `rawScalaCode`',
  Jar: 'a class of a jar file',
  Python3: 'a Python script',
  SQL: 'the SQL statements of `rawScalaCode`',
  THRIFT_SQL: 'a server for SQL clients',
  PLATFORM_FUNCTIONS: 'a Python function that answers calls',
};
export const JOB_LANGUAGES = nameEnum(
  'JobLanguage',
  ['RAW_SCALA', 'Jar', 'Python3', 'SQL', 'THRIFT_SQL', 'PLATFORM_FUNCTIONS'],
  'What a job runs.',
  LANGUAGE_MEANINGS,
);
export type JobLanguage = (typeof JOB_LANGUAGES)[number];

export const NOTEBOOK_LANGUAGES = nameEnum('NotebookLanguage', ['Python3', 'Scala', 'SQL'], 'Language of a notebook.');
export type NotebookLanguage = (typeof NOTEBOOK_LANGUAGES)[number];

export const JOB_LANGUAGE_FILTERS = nameEnum(
  'JobLanguageFilter',
  [...JOB_LANGUAGES, 'Scala'],
  'What a job or a notebook runs.',
  { ...LANGUAGE_MEANINGS, Scala: 'cells in Scala' },
);

type FunctionSetting = 'platform_functions_script_path' | 'platform_functions_function_name';

interface JobTypeRule {
  type: string;
  /** The language that responses show. */
  language: JobLanguage;
  kind: RunKind;
  needs: readonly ('command' | 'class_name' | 'raw_scala_code' | FunctionSetting)[];
  refuses: readonly ('command' | 'raw_scala_code')[];
}

/** For each `job_type` of a create request: the stored type, and the settings that it requires and refuses. */
export const JOB_TYPE_RULES: Record<JobLanguage, JobTypeRule> = {
  RAW_SCALA: {
    type: 'SPARK_JOB',
    language: 'RAW_SCALA',
    kind: 'raw-scala',
    needs: ['raw_scala_code'],
    refuses: ['command'],
  },
  SQL: { type: 'SPARK_JOB', language: 'SQL', kind: 'sql', needs: ['raw_scala_code'], refuses: ['command'] },
  Jar: {
    type: 'SPARK_JOB',
    language: 'Jar',
    kind: 'jar',
    needs: ['command', 'class_name'],
    refuses: ['raw_scala_code'],
  },
  PLATFORM_FUNCTIONS: {
    type: 'PLATFORM_FUNCTIONS',
    language: 'PLATFORM_FUNCTIONS',
    kind: 'function',
    needs: ['platform_functions_script_path', 'platform_functions_function_name'],
    refuses: ['command', 'raw_scala_code'],
  },
  THRIFT_SQL: {
    type: 'THRIFT_SQL',
    language: 'THRIFT_SQL',
    kind: 'thrift',
    needs: [],
    refuses: ['command', 'raw_scala_code'],
  },
  Python3: { type: 'SPARK_JOB', language: 'Python3', kind: 'python', needs: ['command'], refuses: ['raw_scala_code'] },
};

/** Returns the language as responses and lookups show it: functions are Python, and SQL servers are SQL. */
export function shownLanguage(language: string): string {
  if (language === 'PLATFORM_FUNCTIONS') return 'Python3';
  return language === 'THRIFT_SQL' ? 'SQL' : language;
}

/** Returns the kind of process that the agent starts for a configuration. */
export function processKindOf(conf: { job_type: string; language: JobLanguage | NotebookLanguage }): RunKind {
  if (conf.job_type === 'NOTEBOOK') return 'notebook';
  return JOB_TYPE_RULES[conf.language as JobLanguage].kind;
}

/** Returns undefined for a job configuration. */
export function kernelOf({ job_type, language }: { job_type: string; language: string }): RunSpec['kernel'] {
  if (job_type !== 'NOTEBOOK') return undefined;
  return { language: language === 'Python3' ? 'python' : language === 'SQL' ? 'sql' : 'scala' };
}

/** Infers the type of a configuration without `job_type`: from its code, else from the extension of its command. */
export function inferLanguage(command: string | null, code: string | null): JobLanguage {
  if (code !== null) return 'RAW_SCALA';
  return command?.endsWith('.py') ? 'Python3' : 'Jar';
}
