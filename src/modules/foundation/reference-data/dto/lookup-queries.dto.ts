import { Param } from '../../../../platform/kernel/dto/fields';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS, type CloudProviderName } from '../reference-data';
import { GIT_PROVIDERS, JOB_TYPE_DISPLAY_NAMES, SECRET_SUPPORTS } from './lookup-values';

export class CloudProviderFilter {
  @Param.oneOf(CLOUD_PROVIDERS, { aliases: CLOUD_PROVIDER_ALIASES }) cloud_provider?: CloudProviderName;
}

export class JobTypeFilter {
  @Param.someOf(JOB_TYPE_DISPLAY_NAMES, { description: 'Display names, repeated or comma separated' })
  job_type?: string[];
}

export class SecretSupportsFilter {
  @Param.oneOf(SECRET_SUPPORTS) secret_supports?: (typeof SECRET_SUPPORTS)[number];
}

export class GitProviderFilter {
  @Param.oneOf(GIT_PROVIDERS) git_provider?: string;
}
