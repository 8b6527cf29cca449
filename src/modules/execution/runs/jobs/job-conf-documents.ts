import { namesSecret } from '../../../../../libs/redaction/redaction';
import { unknownField } from '../../../../platform/kernel/dto/problems';
import { internalKey, keysFromWire, keysToWire, toWire } from '../../../../platform/kernel/product/product-name';
import { validated } from '../../../../platform/http/validation';
import { JobConfExport, type JobSettings } from './dto/job-conf.dto';
import type { RunConfiguration } from './entities/run-configuration.entity';

/** `-Dkey=value` of Java options. */
const JAVA_PROPERTY = /(-D[^\s=]+=)(?:"[^"]*"|'[^']*'|\S*)/g;

/** Returns the document of a job configuration, without values that look secret. */
export function exportJobConf(
  row: Pick<RunConfiguration, 'name' | 'language' | 'max_concurrency' | 'settings'>,
): object {
  const { name, language, max_concurrency, settings } = row;
  return { name, job_type: toWire(language), max_concurrency, ...keysToWire(withoutSecrets(settings)) };
}

/** Parses the document of a job configuration; throws a 400 if it is invalid. */
export async function readJobConf(document: unknown): Promise<JobConfExport> {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    return validated(JobConfExport, document);
  const fields = document as Record<string, unknown>;
  const internal = internalKey(fields);
  if (internal !== undefined) throw unknownField(internal);
  return validated(JobConfExport, keysFromWire(fields));
}

/** Empties the values that look secret, and keeps their names. */
export function withoutSecrets(settings: Required<JobSettings>): Required<JobSettings> {
  const { conf, driver_java_options: javaOptions, extra_info: extra } = settings;
  return {
    ...settings,
    conf: conf?.map(redactConf) ?? null,
    driver_java_options: javaOptions?.replaceAll(JAVA_PROPERTY, redactProperty) ?? null,
    extra_info: extra === null ? null : (redact(extra) as Record<string, unknown>),
  };
}

function redactConf(entry: string): string {
  const [key = ''] = entry.split('=', 1);
  return namesSecret(key) ? `${key}=` : entry;
}

function redactProperty(option: string, key: string): string {
  return namesSecret(key) ? key : option;
}

/** Recursion is safe: the parser of requests has limited the depth. */
function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, namesSecret(key) ? '' : redact(item)]));
}
