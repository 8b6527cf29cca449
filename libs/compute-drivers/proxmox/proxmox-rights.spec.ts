import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVILEGES } from './proxmox-rights';

it('the role in the documentation has all privileges', () => {
  const page = readFileSync(join(__dirname, '../../../docs/clouds/proxmox.md'), 'utf8');
  const [, listed = ''] = /--privs "([^"]+)"/.exec(page) ?? [];
  const wanted = PRIVILEGES.map(([name]) => name);
  expect(listed.split(/[\s\\]+/).sort()).toEqual(wanted.sort());
});
