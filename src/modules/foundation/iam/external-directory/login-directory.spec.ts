import { LdapDirectory } from '../../../../../libs/directories/ldap-directory';
import { eventually } from '../../../../../test/harness/eventually';
import { Config } from '../../../../config/config';
import { EnvReader } from '../../../../config/env-reader';
import { LoginDirectory } from './login-directory';

const [MAX_CONCURRENT, MAX_WAITING] = [16, 64];

describe('LoginDirectory with a slow server', () => {
  it('bounds its connections and refuses further logins, while lookups still work', async () => {
    const config = new Config(new EnvReader({ LDAP_URL: 'ldap://127.0.0.1:1' }));
    const directory = new LoginDirectory(config);
    const pending: (() => void)[] = [];
    jest.spyOn(LdapDirectory.prototype, 'authenticate').mockImplementation(async () => {
      await new Promise<void>((resolve) => pending.push(resolve));
      return null;
    });
    jest.spyOn(LdapDirectory.prototype, 'findUser').mockResolvedValue(null);
    const logins = Array.from({ length: MAX_CONCURRENT + MAX_WAITING + 10 }, (_, index) =>
      directory.checkPassword(`address-${index}`, 'somebody', 'a password'),
    );
    const outcomes = Promise.allSettled(logins);
    await eventually(() => pending.length > 0);
    expect(pending).toHaveLength(MAX_CONCURRENT);
    expect(await directory.findUser('administrator', 'somebody')).toBeNull();
    await eventually(() => {
      for (const respond of pending.splice(0)) respond();
      return jest.mocked(LdapDirectory.prototype.authenticate).mock.calls.length === MAX_CONCURRENT + MAX_WAITING;
    });
    for (const respond of pending) respond();
    const refused = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(10);
    expect(refused[0]).toMatchObject({ reason: { code: 'AUTH.BUSY', details: { retry_after_seconds: 5 } } });
  });
});
