import { CALLERS, type CallerSpec, standingOf } from './callers';
import { type ExpectedOperation, verdictOf } from './expected-access';
import { type Address, formsOf, type Operation, type RequestForm } from './requests';
import type { Side } from './tenant-records';

/** What one call must be answered. `reached`: with a success, as a request that is right in every way. */
export type Expectation = 401 | 403 | 'not found' | 'admitted' | 'reached';

/** One call of the matrix. */
export interface Cell {
  operation: Operation;
  form: RequestForm;
  caller: CallerSpec;
  expected: Expectation;
  /** Of these addresses the record is the other tenant's; of the rest the caller's own. */
  strange: readonly Address[];
}

export function isAdmitted(expected: Expectation): boolean {
  return expected === 'admitted' || expected === 'reached';
}

/** Every call of an operation, those that are refused first. */
export function cellsOf(operation: Operation, expected: ExpectedOperation): Cell[] {
  const forms = formsOf(operation);
  const [plain] = forms;
  if (!plain) return [];
  const cells = CALLERS.map((caller) => cellOfCaller(operation, plain, caller, expected));
  return [
    ...cells.filter((cell) => !isAdmitted(cell.expected)),
    ...strangersCells(operation, forms, expected),
    ...cells.filter((cell) => isAdmitted(cell.expected)),
    ...reachingCells(operation, forms, expected),
  ];
}

function cellOfCaller(operation: Operation, form: RequestForm, caller: CallerSpec, expected: ExpectedOperation): Cell {
  const strange = caller.session === 'foreign' ? form.addresses : [];
  return { operation, form, caller, expected: expectationOf(form, caller, expected), strange };
}

function expectationOf(form: RequestForm, caller: CallerSpec, expected: ExpectedOperation): Expectation {
  if (caller.badToken) return expected.access.kind === 'public' ? 'admitted' : 401;
  const verdict = verdictOf(expected, standingOf(caller));
  if (verdict !== 'foreign') return verdict;
  if (form.addresses.length === 0) return 'admitted';
  return expected.foreign === 403 ? 403 : 'not found';
}

/**
 * Admitted strangers in every form of the request, with one record of the other tenant at a time and the rest their
 * own: otherwise the first strange record would hide that the others are not looked at. And with all of them, since
 * filters that contradict each other find nothing either.
 */
function strangersCells(operation: Operation, forms: readonly RequestForm[], expected: ExpectedOperation): Cell[] {
  if (expected.foreign !== 404) return [];
  return strongest('foreign', expected).flatMap((caller) =>
    forms.flatMap((form) => {
      const each = form.addresses.map((address) => [address]);
      const choices = form.addresses.length > 1 ? [...each, form.addresses] : each;
      return choices.map((strange): Cell => ({ operation, form, caller, expected: 'not found', strange }));
    }),
  );
}

/** Every form of the request in the own tenant must succeed: a refusal elsewhere is then not for another reason. */
function reachingCells(operation: Operation, forms: readonly RequestForm[], expected: ExpectedOperation): Cell[] {
  const [caller] = strongest('own', expected);
  if (!caller) return [];
  return forms.map((form) => ({ operation, form, caller, expected: 'reached', strange: [] }));
}

/** The two strongest of a side who are admitted in their own tenant. */
function strongest(side: Side, expected: ExpectedOperation): CallerSpec[] {
  const within = CALLERS.filter(({ session, badToken }) => session === side && !badToken);
  const admitted = within.filter(
    (caller) => verdictOf(expected, { ...standingOf(caller), ownTenant: true, belongs: true }) === 'admitted',
  );
  return admitted.slice(0, 2);
}
