import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ACTIONS } from './azure-rights';

it('the role in the documentation has all actions', () => {
  const page = readFileSync(join(__dirname, '../../../docs/clouds/azure.md'), 'utf8');
  const listed = page.match(/(?<=^ +")Microsoft\.[\w/]+(?=",?$)/gm);
  expect(listed).toEqual(expect.arrayContaining([...ACTIONS]));
});
