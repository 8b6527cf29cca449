import type {
  CreateSecret,
  UpdateSecret,
} from '../../src/modules/execution/user-secrets/scoped-secrets/dto/scoped-secret.dto';
import type {
  TenantSecret,
  UserSecret,
  WorkspaceSecret,
} from '../../src/modules/execution/user-secrets/scoped-secrets/entities/scoped-secret.entity';
import { REFERENCE } from './reference';
import { sample } from './sample';

/** Types of secrets in the reference data. */
export const SECRET_TYPE = { hiveBasic: 2, awsKeys: 5 } as const;

const secret_type = 'ENVIRONMENT VARIABLE';
const { secret_type_id } = REFERENCE;
/** The row has no sealed values; tests that need them seal them. */
const requests = {
  body: () => ({ secret_type, value: 'word' }) as const,
  change: { secret_type, description: 'changed' } as const,
};

export const tenantSecret = sample<CreateSecret, UpdateSecret, TenantSecret>({
  ...requests,
  path: '/tenant/secret',
  row: () => ({ secret_type_id }),
});

export const workspaceSecret = sample<CreateSecret, UpdateSecret, WorkspaceSecret, 'workspace_id'>({
  ...requests,
  path: '/workspace/secret',
  row: ({ workspace_id }) => ({ secret_type_id, workspace_id }),
});

export const userSecret = sample<CreateSecret, UpdateSecret, UserSecret, 'user_id'>({
  ...requests,
  path: '/user/secret',
  row: ({ user_id }) => ({ secret_type_id, user_id }),
});
