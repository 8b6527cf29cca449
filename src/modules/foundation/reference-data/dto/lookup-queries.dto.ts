import { Param } from '../../../../platform/kernel/dto/fields';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS, type CloudProviderName } from '../reference-data';
import { GIT_PROVIDERS, JOB_TYPE_DISPLAY_NAMES, SECRET_SUPPORTS } from './lookup-values';

export class CloudProviderFilter {
  @Param.oneOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only entries of this provider, ignoring case; Proxmox means OnPrem',
  })
  cloud_provider?: CloudProviderName;
}

export class JobTypeFilter {
  @Param.someOf(JOB_TYPE_DISPLAY_NAMES, {
    description: 'Only languages of these types, by their display names, repeated or comma separated',
  })
  job_type?: string[];
}

export class SecretSupportsFilter {
  @Param.oneOf(SECRET_SUPPORTS, { description: 'Only types that open such a metastore or store' })
  secret_supports?: (typeof SECRET_SUPPORTS)[number];
}

export class GitProviderFilter {
  @Param.oneOf(GIT_PROVIDERS, { description: 'Only the rule of this provider' }) git_provider?: string;
}
