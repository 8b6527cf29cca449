import { isOnCommandLine } from '../../../../../libs/spark/owned-properties';
import { isOwnedVariable } from '../../../../../libs/spark/owned-variables';
import { invalid } from '../../../../platform/kernel/errors/domain-error';
import { NAME_PATTERN } from '../../../../platform/kernel/dto/fields';
import type { SparkConfig } from '../model/dto/spark-config.dto';
import { assertNotOwned } from './spark-conf';

type Targets = SparkConfig['conf_secret'];

const MAX_SECRETS = 100;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
const PROPERTY = /^spark\.[A-Za-z0-9_./-]{1,250}$/;

/** Returns the names of secrets by variable or property, without null entries. */
export function secretNames(targets: Targets): Record<string, string> {
  return Object.fromEntries(
    Object.entries(targets ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** Throws a 400 for the first environment variable or Spark property that cannot have a secret, or not this one. */
export function checkSecretNames({ env_var_secret, conf_secret }: SparkConfig): void {
  check('env_var_secret', env_var_secret, 'CLUSTER.INVALID_ENV_VAR_SECRET', (name) => {
    if (!VARIABLE.test(name)) return 'it is not a valid name of an environment variable';
    return isOwnedVariable(name) ? 'the environment variable belongs to the platform' : null;
  });
  check('conf_secret', conf_secret, 'CLUSTER.INVALID_CONF_SECRET', (property) => {
    assertNotOwned('CLUSTER', property);
    if (!PROPERTY.test(property)) return 'it is not a valid name of a Spark property';
    return isOnCommandLine(property) ? 'the value of this property appears on command lines' : null;
  });
}

function check(field: string, targets: Targets, code: string, whyNot: (target: string) => string | null): void {
  const entries = Object.entries(targets ?? {});
  if (entries.length > MAX_SECRETS) throw invalid(code, `${field} has at most ${MAX_SECRETS} entries.`);
  for (const [target, name] of entries) {
    const fault = whyNot(target);
    if (fault !== null) throw invalid(code, `${field} cannot have "${target}": ${fault}.`);
    if (name === null || (typeof name === 'string' && NAME_PATTERN.test(name))) continue;
    throw invalid(code, `${field} of "${target}" must be the name of a secret.`);
  }
}
