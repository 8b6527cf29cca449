import { bodyOf, type Part, PARTS, sampleOf } from '../../samples';
import type { Caller, People } from './people';
import type { TestAnswer } from './test-api';

/** Ids of the reference data. */
export const PROVIDER = { GCP: 0, AWS: 1, Azure: 2, OnPrem: 3, OCI: 4 };
export const DISK = { 'local-ssd': 2, gp2: 3, gp3: 4, io1: 5, 'local-lvm': 10 };
export const MACHINE = { 'e2-standard-2': 3, 'Onprem-S-4': 1486 };
export const AARCH64 = 1;

export type Kind = Part | 'cluster';
/** Ids of the records that a cluster refers to. */
export type Parts = Record<Part, number>;

/** Creates OnPrem infrastructure through the API, as a caller with every permission. */
export class Estate {
  constructor(
    private readonly people: People,
    readonly caller: Caller,
  ) {}

  /** The body that creates a record of the kind: its sample, with `changes` applied. */
  body(kind: Kind, parts: Partial<Parts>, changes: object = {}): Record<string, unknown> {
    const ids = Object.fromEntries(Object.entries(parts).map(([part, id]) => [`${part}_id`, id]));
    return { name: this.people.unique(kind.replaceAll('_', '-')), ...bodyOf(kind, ids), ...changes };
  }

  create(kind: Kind, parts: Partial<Parts>, changes: object = {}): Promise<TestAnswer> {
    return this.caller.call('POST', sampleOf(kind).path, this.body(kind, parts, changes));
  }

  async id(kind: Kind, parts: Partial<Parts>, changes: object = {}): Promise<number> {
    return madeId(kind, await this.create(kind, parts, changes));
  }

  update(kind: Kind, id: number, body: object): Promise<TestAnswer> {
    return this.caller.call('PUT', `${sampleOf(kind).path}?${kind}_id=${id}`, body);
  }

  get(kind: Kind, id: number): Promise<TestAnswer> {
    return this.caller.call('GET', `${sampleOf(kind).path}?${kind}_id=${id}`);
  }

  delete(kind: Kind, id: number): Promise<TestAnswer> {
    return this.caller.call('DELETE', `${sampleOf(kind).path}?${kind}_id=${id}`);
  }

  /** Creates one record of each kind. They refer to each other, and nothing else refers to them. */
  async parts(): Promise<Parts> {
    const parts: Partial<Parts> = {};
    for (const kind of Object.keys(PARTS) as Part[]) parts[kind] = await this.id(kind, parts);
    return parts as Parts;
  }
}

export function madeId(kind: Kind, { status, body }: TestAnswer): number {
  if (status !== 200) throw new Error(`Making a ${kind} answered ${status}: ${JSON.stringify(body)}`);
  return Number(body[`${kind}_id`]);
}
