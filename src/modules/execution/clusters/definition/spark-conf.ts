import type { AcceleratorKind } from '../../../../../libs/contracts/agent-protocol';
import { whyOwned } from '../../../../../libs/spark/owned-properties';
import { requiredForm } from '../../../../../libs/spark/typed-properties';
import { shownName } from '../../../../platform/kernel/dto/problems';
import { invalid } from '../../../../platform/kernel/errors/domain-error';

/** The form of conf entries and the code of a malformed entry, by kind of record. */
const FORMS = {
  CLUSTER: { code: 'CLUSTER.INVALID_SPARK_CONF', form: '"key value"', onlyEquals: false },
  JOB_CONF: { code: 'JOB_CONF.INVALID_CONF', form: 'key=value', onlyEquals: true },
  JOB: { code: 'JOB.INVALID_CONF', form: 'key=value', onlyEquals: true },
  NOTEBOOK_CONF: { code: 'NOTEBOOK_CONF.INVALID_CONF', form: 'key=value', onlyEquals: true },
  NOTEBOOK: { code: 'NOTEBOOK.INVALID_CONF', form: 'key=value', onlyEquals: true },
};

/** The kind of record that sets a Spark property, which is the prefix of its error codes. */
export type Configures = keyof typeof FORMS;

/**
 * Parses an entry `key=value` or `key value`; null for any other text. The first form is an argument of spark-submit,
 * whose value is all the rest. The second is a line of spark-defaults.conf, where blanks around the value do not count.
 */
export function parseConfEntry(entry: string): { key: string; value: string } | null {
  const [, key, whole, line] = /^([^\s=]+)(?:=([^]*)|\s+(?:=\s*)?([^]*))$/.exec(entry) ?? [];
  const value = whole ?? line?.replace(/(?<![^\S\r\n])[^\S\r\n]+$/, '');
  return key === undefined || value === undefined ? null : { key, value };
}

/** Throws a 400 for the first entry that is malformed, sets a property of the platform or has a value that Spark cannot read. */
export function checkConf(who: Configures, entries: readonly string[] | null | undefined): void {
  const { code, form, onlyEquals } = FORMS[who];
  for (const entry of entries ?? []) {
    const parsed = parseConfEntry(entry);
    if (!parsed || (onlyEquals && entry[parsed.key.length] !== '=')) {
      throw invalid(code, `The conf entry "${entry}" is not ${form}.`);
    }
    assertNotOwned(who, parsed.key);
    assertReadable(code, parsed);
  }
}

/** Throws a 400 for a value with which Spark would not start. */
function assertReadable(code: string, { key: property, value }: { key: string; value: string }): void {
  const form = requiredForm(property, value);
  if (form === null) return;
  throw invalid(code, `The Spark property ${property} cannot be "${shownName(value)}". It must be ${form}.`, {
    property,
  });
}

/** Throws a 400 if users cannot set the property on a cluster with the accelerator. */
export function assertNotOwned(who: Configures, property: string, accelerator: AcceleratorKind | null = null): void {
  const why = whyOwned(property, accelerator);
  if (why === null) return;
  throw invalid(`${who}.PROPERTY_OWNED`, `The Spark property ${property} is managed by the platform: ${why}.`, {
    property,
  });
}
