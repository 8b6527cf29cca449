import type { EnvReader } from './env-reader';

export interface SecretsConfig {
  /** The first wraps new data keys, all unwrap. 32 bytes each. */
  masterKeys: { id: string; key: Buffer }[];
}

export function readSecretsConfig(env: EnvReader): SecretsConfig {
  const masterKeys = env.keyRing('SECRETS_MASTER_KEYS', 32);
  if (masterKeys.some((k) => k.key.length !== 32))
    env.problem('SECRETS_MASTER_KEYS', 'must hold keys of exactly 32 bytes');
  return { masterKeys };
}
