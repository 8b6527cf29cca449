import { IamApiModule } from '../../../src/modules/foundation/iam/iam.api.module';
import { IamModule } from '../../../src/modules/foundation/iam/iam.module';
import { configure, prepare, TestApi, type TestDatabase } from './test-api';

/** The API of users with the variables of a directory. The variables are removed again afterwards. */
export async function startIamApi(database: TestDatabase, environment: Record<string, string>): Promise<TestApi> {
  const config = configure(database.url, { LOGIN_ATTEMPTS: '1000', ...environment });
  try {
    await prepare(config);
    return await TestApi.start([IamModule, IamApiModule]);
  } finally {
    for (const name of Object.keys(environment)) Reflect.deleteProperty(process.env, name);
  }
}

/** Creates a tenant in which the group has the role. */
export async function giveGroupRole(api: TestApi, groupName: string, role: string): Promise<string> {
  const [tenant] = await api.database.query<{ tenant_id: string }[]>(
    'INSERT INTO tenants (name) VALUES ($1) RETURNING tenant_id',
    [`tenant of ${groupName}`],
  );
  await api.database.query(
    `INSERT INTO group_roles (group_id, role_id, tenant_id)
     SELECT g.group_id, r.role_id, $3 FROM groups g, roles r WHERE g.group_name = $1 AND r.role = $2`,
    [groupName, role, tenant!.tenant_id],
  );
  return tenant!.tenant_id;
}
