export { SecretValues } from './dto/scoped-secret.dto';
export { neededValues } from './secret-values';
export type { RevealedSecret } from './scoped-secrets.service';
