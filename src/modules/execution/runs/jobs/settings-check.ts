import { foreignSqlArgument, SQL_ARGUMENTS } from '../../../../../libs/spark/sql-arguments';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { toWire } from '../../../../platform/kernel/product/product-name';
import type { JobSettings } from './dto/job-conf.dto';
import { assertArchiveFolder, assertInWorkspace, assertKeytab, assertOneFile } from './file-reference';
import { checkFunction } from './function-settings';
import { JOB_TYPE_RULES, type JobLanguage } from './job-types';
import { filesNamed } from './run-spec';
import { splitArguments } from './split-arguments';

/** Throws a 400 for settings that the job type requires, refuses or cannot run with. */
export function checkJobSettings(language: JobLanguage, settings: Required<JobSettings>): void {
  const rule = JOB_TYPE_RULES[language];
  const values = { ...settings, raw_scala_code: settings.rawScalaCode };
  const label = (field: string) => (field === 'raw_scala_code' ? 'rawScalaCode' : toWire(field));
  for (const field of rule.needs) {
    if (values[field] === null || values[field].trim() === '') {
      throw invalid('JOB_CONF.FIELD_REQUIRED', `${label(field)} is required for a ${toWire(language)} job.`, {
        field: label(field),
      });
    }
  }
  for (const field of rule.refuses) {
    if (values[field] !== null) {
      throw invalid(
        'JOB_CONF.FIELD_REFUSED',
        `${label(field)} is not allowed for a ${toWire(language)} job. Remove it.`,
        {
          field: label(field),
        },
      );
    }
  }
  checkArguments(language, settings.arguments ?? '');
  if (language === 'PLATFORM_FUNCTIONS') checkFunction(settings);
  if (settings.keytab !== null) assertKeytab(settings.keytab);
  assertFiles(settings);
}

/** Throws a 400 for a file that Spark could not use, or whose path could lead out of the workspace. */
export function assertFiles(settings: Required<JobSettings>): void {
  const { files, jars, archives } = settings;
  for (const archive of archives ?? []) assertArchiveFolder(archive);
  for (const file of [files, jars, archives].flatMap((list) => list ?? [])) assertOneFile(file);
  for (const file of filesNamed(settings, {})) if (file !== '') assertInWorkspace(file);
}

function checkArguments(language: JobLanguage, text: string): void {
  const words = splitArguments(text);
  const unsupported = JOB_TYPE_RULES[language].kind === 'sql' ? foreignSqlArgument(words) : null;
  if (unsupported === null) return;
  throw invalid(
    'JOB_CONF.INVALID_ARGUMENTS',
    `A ${language} job does not support the argument ${unsupported}. Supported: ${SQL_ARGUMENTS}.`,
  );
}
