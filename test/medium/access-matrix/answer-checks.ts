import { PLATFORM_ROLES } from '../../../src/platform/kernel/auth/roles';
import { type CallerSpec, membershipsOf, type Tenants } from './callers';
import type { Cell, Expectation } from './cells';
import type { ExpectedOperation } from './expected-access';
import { MARKS, type Side } from './tenant-records';

export interface Answer {
  status: number;
  text: string;
  /** Values of the request that name records. */
  sent: readonly string[];
}

/** Returns the problems of a response: a wrong status, a record of another tenant, a wrong count on a page. */
export function problemsOf(
  cell: Cell,
  answer: Answer,
  expected: ExpectedOperation,
  tenants: Tenants,
  unreachable: number | undefined,
): string[] {
  const hidden = hiddenFrom(cell.caller, expected);
  return [
    ...statusProblems(cell, answer, unreachable),
    ...leaks(hidden, answer, tenants),
    // If nothing is hidden, other calls may add records between the count and the page.
    ...(hidden.length > 0 ? pageProblems(answer) : []),
  ];
}

function statusProblems(cell: Cell, answer: Answer, unreachable: number | undefined): string[] {
  const { status } = answer;
  if (status >= 500) return ['the API failed'];
  if (!cell.operation.statuses.includes(status)) return ['the document does not name the status'];
  return isAsExpected(cell, answer, unreachable) ? [] : [`expected ${describe(cell.expected)}`];
}

function isAsExpected(
  { expected, operation }: Cell,
  { status, text }: Answer,
  unreachable: number | undefined,
): boolean {
  switch (expected) {
    case 'admitted':
      return status !== 401 && status !== 403;
    case 'reached':
      return unreachable === undefined ? status < 300 : status === unreachable;
    case 'not found':
      return status === 404 || (operation.isList && status < 300 && isEmptyList(text));
    case 401:
    case 403:
      return status === expected;
  }
}

function describe(expected: Expectation): string {
  switch (expected) {
    case 'admitted':
      return 'anything but 401 and 403';
    case 'reached':
      return 'success';
    case 'not found':
      return '404 or an empty list';
    case 401:
    case 403:
      return String(expected);
  }
}

interface PageBody {
  /** Records, or one record with nested lists of records; one list has another name. */
  data?: unknown[] | Record<string, unknown>;
  cluster_mounts?: unknown[];
  result_set: { total_objects: number; limit: number; current_page: number };
}

function isEmptyList(text: string): boolean {
  const body = parsed(text) as PageBody | unknown[] | null;
  if (Array.isArray(body)) return body.length === 0;
  return body !== null && recordsOn(body).length === 0;
}

function recordsOn({ cluster_mounts = [], data = cluster_mounts }: PageBody): unknown[] {
  return Array.isArray(data) ? data : recordsWithin(data);
}

function recordsWithin(holder: object): unknown[] {
  return Object.values(holder).flatMap((value: unknown) => {
    if (Array.isArray(value))
      return value.flatMap((item: unknown) => (holdsLists(item) ? recordsWithin(item) : [item]));
    return holdsLists(value) ? recordsWithin(value) : [];
  });
}

function holdsLists(value: unknown): value is object {
  return value instanceof Object && Object.values(value).some(Array.isArray);
}

/** A count that does not match the data reveals hidden records. */
function pageProblems({ status, text }: Answer): string[] {
  const body = status < 300 ? (parsed(text) as PageBody | null) : null;
  if (!body?.result_set) return [];
  const { total_objects: total, limit, current_page: page = 1 } = body.result_set;
  const left = Math.max(0, total - (page - 1) * limit);
  const { length } = recordsOn(body);
  return length === Math.min(limit, left) ? [] : [`${length} records of ${total} on the page`];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Returns the marks of records that the caller must not see. An error may repeat values of the request. */
function leaks(hidden: readonly Side[], { status, text, sent }: Answer, tenants: Tenants): string[] {
  const kept = status < 400 ? text : sent.reduce((rest, value) => rest.replaceAll(value, ''), text);
  return hidden.flatMap((side) => {
    const { text: word, idPrefix } = MARKS[side];
    // Digits within a UUID are not an id.
    const mark = new RegExp(`${word}|(?<![\\w.-])${idPrefix}\\d{7}(?![\\w-])|${tenants[side].tenantId}`);
    const found = mark.exec(kept)?.[0];
    return found === undefined ? [] : [`"${found}" of another tenant is in the answer`];
  });
}

/** Returns the sides whose records must not appear in the response of the operation. */
function hiddenFrom(caller: CallerSpec, { access, foreign }: ExpectedOperation): Side[] {
  const sides: Side[] = ['own', 'foreign'];
  if (caller.badToken) return sides;
  switch (access.kind) {
    case 'public':
    case 'node':
    case 'bootstrap':
      return sides;
    case 'signed-in':
    case 'own-tenant': {
      const isEverywhere = caller.roles.some(({ role }) => PLATFORM_ROLES.includes(role));
      return isEverywhere
        ? []
        : sides.filter((side) => !membershipsOf(caller).includes(side) && side !== caller.session);
    }
    case 'platform':
      return [];
    case 'member':
    case 'roles':
    case 'workspace':
      return foreign === 'admitted' ? [] : sides.filter((side) => side !== caller.session);
  }
}
