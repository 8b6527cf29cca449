import { Field } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { requireRecord } from '../../../../platform/http/resources/require-record';
import { type Own, recordJson } from '../../../../platform/http/resources/record-json';
import type { ReferenceData } from '../../../foundation/reference-data';
import { CredentialsConf } from './entities/credentials-conf.entity';

@About('The type of credentials.')
export class CredentialTypeRef {
  @Field.id() credential_type_id: number;
  @Field.text({ description: 'Name of the type' }) name: string;
}

/** A credentials configuration inside another record. */
@About('A reference to credentials, without their values.')
export class CredentialConfRef {
  @Field.id({ description: 'Id of the credentials' }) credential_conf_id: number;
  @Field.text({ description: 'Name of the credentials, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CredentialTypeRef) credential_type: CredentialTypeRef;
}

/** A credentials configuration without audit fields and secret values. */
export type CredentialsConfData = Omit<Own<CredentialsConf>, 'sealed'>;

/** Returns SQL for {@link CredentialsConfData} as one jsonb value. */
export function credentialsConfJson(alias: string): string {
  return recordJson(alias, CredentialsConf, { without: ['sealed'] });
}

export function credentialConfRef(data: CredentialsConfData, referenceData: ReferenceData): CredentialConfRef {
  const typeId = data.credential_type_id;
  const { name } = requireRecord(referenceData.credentialType(typeId), 'credential type', typeId);
  return {
    credential_conf_id: data.credentials_conf_id,
    name: data.name,
    description: data.description,
    credential_type: { credential_type_id: typeId, name },
  };
}

/** Decrypted credentials, for drivers and clients of providers. Never log or return them. */
export interface RevealedCredentials {
  credentialTypeId: number;
  values: Record<string, string>;
}
