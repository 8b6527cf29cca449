/**
 * One record of a kind: how the API makes and changes it, and how it is kept. It has no name; whoever makes it gives one.
 * Its id and name are called `<kind>_id` and `<kind>_name`. The kind is what the sample is exported as: `cloudEnv` of `cloud_env`.
 */
export interface Sample<Create = object, Change = object, Row = object, Needed extends string = never> {
  /** Where it is made by POST, and read, changed and deleted by `<kind>_id` or `<kind>_name`. */
  path: string;
  /** What requests call its name if not `name`; paths then have no `<kind>_name`. */
  nameField?: string;
  /** Where it is kept, if not in `<kind>s`. */
  table?: string;
  /** The plainest request that makes one, of OnPrem. @param ids of what it refers to, which must be there first */
  body(ids: Readonly<Record<Needed, number>>): Omit<Create, 'name'>;
  /** A request that changes it. */
  change: Change;
  /** The columns of the same record. */
  row(ids: Readonly<Record<Needed, number>>): Partial<Row>;
}

const made = new WeakSet<object>();

/** Whether {@link sample} has made it. */
export function isSample(value: unknown): boolean {
  return typeof value === 'object' && value !== null && made.has(value);
}

/** A sample whose columns are called as the fields of the request are, unless `row` says otherwise. */
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
