export { bytesOfBase64, isPrivateKey } from './secret-forms';
export { TenantSecretsService } from './tenant-secrets.service';
