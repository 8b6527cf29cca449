import type {
  CreateCredentialsConf,
  UpdateCredentialsConf,
} from '../../src/modules/infrastructure/environments/credentials/dto/credentials-conf.dto';
import type { CredentialsConf } from '../../src/modules/infrastructure/environments/credentials/entities/credentials-conf.entity';
import { REFERENCE } from './reference';
import { encodedCredentials, sample } from './sample';

/** The row has no sealed secret; tests that need it seal it. */
export const credentialsConf = sample<CreateCredentialsConf, UpdateCredentialsConf, CredentialsConf>({
  path: '/credential_config',
  body: () => ({
    credential_type_id: REFERENCE.credential_type_id,
    base64_encoded_credentials: encodedCredentials({ USERNAME: 'root@pam', PASSWORD: 'word' }),
  }),
  change: { description: 'changed' },
  row: () => ({ credential_type_id: REFERENCE.credential_type_id }),
});

/** The fields that differ for credentials of an S3-compatible store. */
export function ofStore(keys: object): ReturnType<typeof credentialsConf.body> {
  return {
    credential_type_id: REFERENCE.store_credential_type_id,
    base64_encoded_credentials: encodedCredentials(keys),
  };
}
