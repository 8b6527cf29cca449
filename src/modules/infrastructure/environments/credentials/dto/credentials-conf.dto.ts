import { ReadAudit, WriteAudit } from '../../../../../platform/kernel/dto/response-fields';
import { Field, Param } from '../../../../../platform/kernel/dto/fields';
import { About, Example } from '../../../../../platform/kernel/dto/schemas';
import { PageOrAllQuery } from '../../../../../platform/kernel/dto/page';
import { RecordSelectorQuery } from '../../../../../platform/kernel/dto/selector';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS, CredentialTypeInfo } from '../../../../foundation/reference-data';

export class CredentialsConfSelector extends RecordSelectorQuery('credentials_conf') {}

export class CredentialsCheckQuery extends CredentialsConfSelector {
  @Param.text({ description: 'OnPrem basic auth: address of the hypervisor' }) endpoint?: string;
  @Param.text({ description: 'OCI API key: a region that its tenancy has subscribed to' }) region?: string;
  @Param.text({
    description: 'Azure service principal: the resource group of the nodes, where its permissions are checked',
  })
  cloud_project?: string;
}

export class CredentialsConfListQuery extends PageOrAllQuery {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only records of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: string;
}

export class CredentialsConfSearchQuery extends CredentialsConfListQuery {
  @Param.text({ optional: false, description: 'Part of the name, ignoring case' }) credentials_conf_name: string;
}

@About('Credentials in the encoding in which they are sent.')
export class EncodedCredentials {
  @Field.text({ minLength: 1, description: 'A Base64-encoded JSON object with the keys of the credential type' })
  encoded: string;
}

@Example({
  name: 'example-store',
  credential_type_id: 5,
  base64_encoded_credentials: {
    // {"AWS_ACCESS_KEY_ID":"example","AWS_SECRET_ACCESS_KEY":"example","S3_ENDPOINT":"https://s3.example.org"}
    encoded:
      'eyJBV1NfQUNDRVNTX0tFWV9JRCI6ImV4YW1wbGUiLCJBV1NfU0VDUkVUX0FDQ0VTU19LRVkiOiJleGFtcGxlIiwiUzNfRU5EUE9JTlQiOiJodHRwczovL3MzLmV4YW1wbGUub3JnIn0=',
  },
})
@About('Credentials of a provider or of an object store.')
export class CreateCredentialsConf {
  @Field.name() name: string;
  @Field.description() description?: string | null;
  @Field.id() credential_type_id: number;
  @Field.object(() => EncodedCredentials, { description: 'The values; they are stored encrypted and never returned' })
  base64_encoded_credentials: EncodedCredentials;
}

@Example({ description: 'Changed by an example' })
@About('Changes to credentials; at least one. Absent fields keep their values.')
export class UpdateCredentialsConf {
  @Field.name({ optional: true }) name?: string;
  @Field.description() description?: string | null;
  @Field.object(() => EncodedCredentials, { optional: true, description: 'New values, which replace all old ones' })
  base64_encoded_credentials?: EncodedCredentials;
}

@About('Credentials of a provider or of an object store, without their values.')
export class CredentialsConfRead extends ReadAudit {
  @Field.id() credentials_conf_id: number;
  @Field.text({ description: 'Name of the credentials, unique in the tenant' }) credentials_conf_name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.object(() => CredentialTypeInfo) credential_type: CredentialTypeInfo;
  @Field.uuid() tenant_id: string;
}

@About('Credentials as returned by a write, without their values. Ids are decimal strings.')
export class CredentialsConfWrite extends WriteAudit {
  @Field.idText() credentials_conf_id: string;
  @Field.text({ description: 'Name of the credentials, unique in the tenant' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
  @Field.idText() credential_type_id: string;
  @Field.uuid() tenant_id: string;
}

@About('What the provider says about the credentials.')
export class CredentialsCheckResult {
  @Field.boolean({ description: 'Whether the provider accepts the credentials' }) working: boolean;
  @Field.text({
    nullable: true,
    description: 'Account or principal of the credentials; null if the provider does not report it',
  })
  checked_as: string | null;
  @Field.text({
    nullable: true,
    description:
      'Why the credentials do not work, or which permissions they lack to create nodes; null if nothing is wrong, or if the provider does not say',
  })
  reason: string | null;
}
