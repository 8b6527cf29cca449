import { unknownField } from '../../../../platform/kernel/dto/problems';
import { internalKey, keysFromWire, keysToWire, toWire } from '../../../../platform/kernel/product/product-name';
import { validated } from '../../../../platform/http/validation';
import { JobConfExport, type JobSettings } from './dto/job-conf.dto';
import type { RunConfiguration } from './entities/run-configuration.entity';

/** Keys whose values look secret: what Spark itself keeps out of its logs, and a little more. */
const SECRET_KEY = /secret|password|passphrase|token|credential|access[._-]?key|account[._-]?key/i;

/** `-Dkey=value` of Java options. */
const JAVA_PROPERTY = /(-D[^\s=]+=)(?:"[^"]*"|'[^']*'|\S*)/g;

/** A job configuration as documents have it, without values that look secret. */
export function exportJobConf(
  row: Pick<RunConfiguration, 'name' | 'language' | 'max_concurrency' | 'settings'>,
): object {
  const { name, language, max_concurrency, settings } = row;
  return { name, job_type: toWire(language), max_concurrency, ...keysToWire(withoutSecrets(settings)) };
}

/** Reads a job configuration of a document; throws a 400 that says what is wrong with it. */
export async function readJobConf(given: unknown): Promise<JobConfExport> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return validated(JobConfExport, given);
  const fields = given as Record<string, unknown>;
  const internal = internalKey(fields);
  if (internal !== undefined) throw unknownField(internal);
  return validated(JobConfExport, keysFromWire(fields));
}

/** The settings with names of what looks secret and without its values. */
export function withoutSecrets(settings: Required<JobSettings>): Required<JobSettings> {
  const { conf, driver_java_options: javaOptions, extra_info: extra } = settings;
  return {
    ...settings,
    conf: conf?.map(emptiedConf) ?? null,
    driver_java_options: javaOptions?.replaceAll(JAVA_PROPERTY, emptiedProperty) ?? null,
    extra_info: extra === null ? null : (emptied(extra) as Record<string, unknown>),
  };
}

function emptiedConf(entry: string): string {
  const [key = ''] = entry.split('=', 1);
  return SECRET_KEY.test(key) ? `${key}=` : entry;
}

function emptiedProperty(option: string, key: string): string {
  return SECRET_KEY.test(key) ? key : option;
}

/** A request is not nested deeper than its parser allows. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, SECRET_KEY.test(key) ? '' : emptied(item)]),
  );
}
