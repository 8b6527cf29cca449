import { CALLERS, type CallerSpec, standingOf } from './callers';
import { type ExpectedOperation, verdictOf } from './expected-access';
import { type Address, formsOf, type Operation, type RequestForm } from './requests';
import type { Side } from './tenant-records';

/** The expected response to a call. `reached` is a success: the request is valid in every way. */
export type Expectation = 401 | 403 | 'not found' | 'admitted' | 'reached';

/** One call of the matrix. */
export interface Cell {
  operation: Operation;
  form: RequestForm;
  caller: CallerSpec;
  expected: Expectation;
  /** Addresses that name a record of the other tenant; all others name the caller's own records. */
  foreignAddresses: readonly Address[];
}

export function isAdmitted(expected: Expectation): boolean {
  return expected === 'admitted' || expected === 'reached';
}

/** Returns every call of an operation, the refused ones first. */
export function cellsOf(operation: Operation, expected: ExpectedOperation): Cell[] {
  const forms = formsOf(operation);
  const [plain] = forms;
  if (!plain) return [];
  const cells = CALLERS.map((caller) => cellOfCaller(operation, plain, caller, expected));
  return [
    ...cells.filter((cell) => !isAdmitted(cell.expected)),
    ...outsiderCells(operation, forms, expected),
    ...cells.filter((cell) => isAdmitted(cell.expected)),
    ...reachingCells(operation, forms, expected),
  ];
}

function cellOfCaller(operation: Operation, form: RequestForm, caller: CallerSpec, expected: ExpectedOperation): Cell {
  const strange = caller.session === 'foreign' ? form.addresses : [];
  return { operation, form, caller, expected: expectationOf(form, caller, expected), foreignAddresses: strange };
}

function expectationOf(form: RequestForm, caller: CallerSpec, expected: ExpectedOperation): Expectation {
  if (caller.badToken) return expected.access.kind === 'public' ? 'admitted' : 401;
  const verdict = verdictOf(expected, standingOf(caller));
  if (verdict !== 'foreign') return verdict;
  if (form.addresses.length === 0) return 'admitted';
  return expected.foreign === 403 ? 403 : 'not found';
}

/**
 * Admitted callers from outside in every form of the request, with one record of the other tenant at a time and the rest
 * their own: otherwise the first foreign record would hide that the others are not checked. And with all of them, because
 * filters that contradict each other find nothing either.
 */
function outsiderCells(operation: Operation, forms: readonly RequestForm[], expected: ExpectedOperation): Cell[] {
  if (expected.foreign !== 404) return [];
  return strongest('foreign', expected).flatMap((caller) =>
    forms.flatMap((form) => {
      const each = form.addresses.map((address) => [address]);
      const choices = form.addresses.length > 1 ? [...each, form.addresses] : each;
      return choices.map((strange): Cell => ({
        operation,
        form,
        caller,
        expected: 'not found',
        foreignAddresses: strange,
      }));
    }),
  );
}

/** Every form of the request must succeed in the own tenant, so that refusals elsewhere have no other reason. */
function reachingCells(operation: Operation, forms: readonly RequestForm[], expected: ExpectedOperation): Cell[] {
  const [caller] = strongest('own', expected);
  if (!caller) return [];
  return forms.map((form) => ({ operation, form, caller, expected: 'reached', foreignAddresses: [] }));
}

/** Returns the two strongest callers of a side that are admitted in their own tenant. */
function strongest(side: Side, expected: ExpectedOperation): CallerSpec[] {
  const within = CALLERS.filter(({ session, badToken }) => session === side && !badToken);
  const admitted = within.filter(
    (caller) => verdictOf(expected, { ...standingOf(caller), ownTenant: true, belongs: true }) === 'admitted',
  );
  return admitted.slice(0, 2);
}
