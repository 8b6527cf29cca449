import { type Authorship, type FunctionInfo, MetastoreError, type TableRef } from './metastore-client';

/** Of a metastore that does not tell who made something, nor when. */
export const NO_AUTHORSHIP: Authorship = {
  owner: null,
  createdAt: null,
  createdBy: null,
  updatedAt: null,
  updatedBy: null,
};

/** A function of which a metastore knows the Java class, and nothing of its types. */
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
 * Throws {@link MetastoreError} if a metastore describes another table than the one asked for. Metastores keep names in lower
 * case and find them by any.
 */
export function assertAskedFor(name: string | null | undefined, { table }: TableRef, metastore = 'metastore'): void {
  if (name?.toLowerCase() === table.toLowerCase()) return;
  throw new MetastoreError('failed', `The ${metastore} answers with another table.`);
}
