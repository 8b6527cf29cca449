import { type Authorship, type FunctionInfo, MetastoreError, type TableRef } from './metastore-client';

/** The authorship of an object whose metastore does not record it. */
export const NO_AUTHORSHIP: Authorship = {
  owner: null,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
};

/** The fields of a function whose metastore knows only its Java class. */
export const CLASS_FUNCTION = {
  ...NO_AUTHORSHIP,
  dataType: null,
  fullDataType: null,
  routineBody: 'EXTERNAL',
  parameterStyle: null,
  isDeterministic: false,
  sqlDataAccess: null,
  securityType: null,
  specificName: null,
  properties: null,
  metastoreId: null,
  functionId: null,
} satisfies Partial<FunctionInfo>;

/**
 * Throws {@link MetastoreError} if a metastore returns another table than the requested one. Metastores store names in lower
 * case and ignore the case of requests.
 */
export function assertRequestedTable(
  name: string | null | undefined,
  { table }: TableRef,
  metastore = 'metastore',
): void {
  if (name?.toLowerCase() === table.toLowerCase()) return;
  throw new MetastoreError('failed', `The ${metastore} returned another table than ${table}.`);
}
