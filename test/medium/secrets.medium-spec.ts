import { randomBytes } from 'node:crypto';
import { rewrapDataKeys } from '../../src/modules/foundation/secrets/rewrap-data-keys';
import { TenantSecretsRepository } from '../../src/modules/foundation/secrets/tenant-secrets.repository';
import { TenantSecretsService } from '../../src/modules/foundation/secrets/tenant-secrets.service';
import { makeTenancy } from './harness/records';
import { configure, preparedDatabase } from './harness/test-api';
import { autocommit } from '../harness/autocommit';

// Real: PostgreSQL. A pod is a TenantSecretsService with the master keys it was started with.
describe('Rotation of the master key', () => {
  const old = { id: 'old', key: randomBytes(32) };
  const young = { id: 'young', key: randomBytes(32) };
  const text = ({ id, key }: typeof old) => `${id}:${key.toString('base64')}`;
  const { config, dataSource } = preparedDatabase();
  let tenants: string[];

  const pod = (...keys: (typeof old)[]) =>
    new TenantSecretsService(
      new TenantSecretsRepository(),
      configure(config.database.url, { SECRETS_MASTER_KEYS: keys.map(text).join(',') }),
    );
  /** The message for users; the log has the cause. */
  const lockedFor = (keyId: string) => ({
    kind: 'damaged',
    code: 'SECRETS.LOCKED',
    message: expect.not.stringContaining(keyId),
    cause: expect.objectContaining({ message: expect.stringContaining(`master key ${keyId}`) }),
  });
  const open = (service: TenantSecretsService, tenantId: string, sealed: Buffer) =>
    service.open(dataSource.manager, tenantId, 'things', 7, sealed);

  beforeAll(async () => {
    const made = [await makeTenancy(dataSource.manager, 'one'), await makeTenancy(dataSource.manager, 'two')];
    tenants = made.map(({ tenantId }) => tenantId);
  });

  it('keeps secrets readable for pods with both keys at every moment, and afterwards for pods with only the new key', async () => {
    const [one = '', two = ''] = tenants;
    const seal = (service: TenantSecretsService, tenantId: string) =>
      service.seal(autocommit(dataSource.manager), tenantId, 'things', 7, { password: `of ${tenantId}` });
    const first = await seal(pod(old), one);
    // This tenant got its first secret after the new key had become the first.
    const second = await seal(pod(young, old), two);
    await expect(open(pod(young), one, first)).rejects.toMatchObject(lockedFor('old'));
    await expect(seal(pod(young), one)).rejects.toMatchObject(lockedFor('old'));

    expect(await rewrapDataKeys(dataSource, [young, old])).toEqual({ rewrapped: 1, failed: [] });
    for (const keys of [[young], [young, old], [old, young]]) {
      expect(await open(pod(...keys), one, first)).toEqual({ password: `of ${one}` });
      expect(await open(pod(...keys), two, second)).toEqual({ password: `of ${two}` });
    }
    await expect(open(pod(old), one, first)).rejects.toMatchObject(lockedFor('young'));
    expect(await rewrapDataKeys(dataSource, [young, old])).toEqual({ rewrapped: 0, failed: [] });
  });

  it('names the tenants whose master key is missing and goes on with the others', async () => {
    const [one = '', two = ''] = tenants;
    const other = { id: 'other', key: randomBytes(32) };
    await dataSource.query(`UPDATE tenant_data_keys SET master_key_id = 'old' WHERE tenant_id = $1`, [one]);
    await rewrapDataKeys(dataSource, [other, young]);
    await dataSource.query('DELETE FROM tenant_data_keys WHERE tenant_id = $1', [two]);
    await pod(young).seal(autocommit(dataSource.manager), two, 'things', 7, {});
    expect(await rewrapDataKeys(dataSource, [old, young])).toEqual({
      rewrapped: 1,
      failed: [{ tenantId: one, masterKeyId: 'other', reason: expect.stringContaining('master key other') }],
    });
  });
});
