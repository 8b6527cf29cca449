import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NETWORK_RIGHTS, NODE_RIGHTS } from './google-rights';

it('the permissions are those of the role in the documentation', () => {
  const text = readFileSync(join(__dirname, '../../../docs/clouds/google.md'), 'utf8');
  const listed = [...text.matchAll(/^ +- (compute\.\S+)$/gm)].map(([, right]) => right);
  expect(listed).toEqual([...NODE_RIGHTS, ...NETWORK_RIGHTS].sort());
});
