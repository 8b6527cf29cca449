import type { EnvReader } from './env-reader';

export type SecretsConfig = ReturnType<typeof readSecretsConfig>;

export function readSecretsConfig(reader: EnvReader) {
  const env = reader.section('Secrets of tenants');
  const masterKeys = env.keyRing('SECRETS_MASTER_KEYS', 32, {
    allowed: '`id:base64,id:base64`, keys of exactly 32 bytes (`openssl rand -base64 32`)',
    readBy: ['API', 'worker'],
    description:
      'Master keys: the first one encrypts new data keys, and all of them decrypt. Without them no stored credential can ' +
      "be read, so keep them apart from the database's backups.",
  });
  if (masterKeys.some((k) => k.key.length !== 32))
    env.problem('SECRETS_MASTER_KEYS', 'must hold keys of exactly 32 bytes');
  return { masterKeys };
}
