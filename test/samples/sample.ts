/**
 * One record of a kind: the requests that create and change it, and its row. It has no name; its user passes one.
 * Its id and name are `<kind>_id` and `<kind>_name`. The kind follows from the name of the export: `cloudEnv` is `cloud_env`.
 */
export interface Sample<Create = object, Change = object, Row = object, Needed extends string = never> {
  /** The path of the POST that creates it, and of reads, changes and deletions by `<kind>_id` or `<kind>_name`. */
  path: string;
  /** The field of its name in requests if not `name`; paths then have no `<kind>_name`. */
  nameField?: string;
  /** Its table, if not `<kind>s`. */
  table?: string;
  /** The smallest request that creates one, for OnPrem. @param ids of the records it refers to, which must exist */
  body(ids: Readonly<Record<Needed, number>>): Omit<Create, 'name'>;
  /** The body of a request that changes it. */
  change: Change;
  /** The columns of the same record. */
  row(ids: Readonly<Record<Needed, number>>): Partial<Row>;
}

const made = new WeakSet<object>();

/** True if {@link sample} has created it. */
export function isSample(value: unknown): boolean {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** Creates a sample. Its columns have the names of the request's fields unless `row` says otherwise. */
export function sample<Create, Change, Row, Needed extends string = never>(
  given: Omit<Sample<Create, Change, Row, Needed>, 'row'> & Partial<Pick<Sample<Create, Change, Row, Needed>, 'row'>>,
): Sample<Create, Change, Row, Needed> {
  const whole = {
    row: (ids: Readonly<Record<Needed, number>>) => given.body(ids) as unknown as Partial<Row>,
    ...given,
  };
  made.add(whole);
  return whole;
}

/** A request of a class whose fields have defaults: they may be left out. */
export type Request<Create, Given extends keyof Create> = Pick<Create, Given> & Partial<Create>;

/** Values of credentials as requests take them. */
export function encodedCredentials(values: object): { encoded: string } {
  return { encoded: Buffer.from(JSON.stringify(values)).toString('base64') };
}
