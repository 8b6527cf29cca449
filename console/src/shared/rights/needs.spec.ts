import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Need, NEEDS } from './needs';

const DOCUMENT = join(__dirname, '..', '..', '..', '..', 'openapi.json');

interface Described {
  operationId?: string;
  description?: string;
}

/** The section of each operation that says who may call it, as the guards declare it. */
function declared(): Map<string, string> {
  const { paths } = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as { paths: Record<string, Record<string, Described>> };
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  return new Map(
    operations.map(({ operationId = '', description = '' }) => [
      operationId,
      description.split('**Access:** ')[1] ?? '',
    ]),
  );
}

function needIn(access: string): Need | null {
  const permission = /^At least (\w+) on the workspace/.exec(access)?.[1];
  if (permission) return { permission } as Need;
  const roles = /^Roles: (.+?)(?: in the selected tenant)?\.$/.exec(access)?.[1];
  if (roles) return { roles: roles.split(', ').toSorted() } as Need;
  return access === 'Any role in the selected tenant.'
    ? { roles: ['ADMIN', 'CAN MANAGE CLUSTER', 'PLATFORM ADMIN', 'USER'] }
    : null;
}

function ordered(need: Need): Need {
  return 'roles' in need ? { roles: need.roles.toSorted() } : need;
}

describe('what the console thinks that operations need', () => {
  it('is what their guards declare', () => {
    const access = declared();
    const found = Object.keys(NEEDS).map((name) => [name, needIn(access.get(name) ?? '')]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(Object.entries(NEEDS).map(([name, need]) => [name, ordered(need)])),
    );
  });
});
