import type { TenantColumns } from '../../kernel/persistence/columns';
import { type EntityClass, keyOf, tableOf } from '../../kernel/persistence/entity-table';

/** Names of a kind of record: the prefix of its error codes, and its name in messages. */
export interface RecordKindNames {
  /** `CLOUD_ENV` */
  code: string;
  /** `cloud environment`; the plural takes an s. */
  label: string;
}

/** Rule of records whose state protects their parts: parts may change only while their holder is in a `free` state. */
export interface HolderRule {
  free: readonly string[];
  /** Sentence that says what to do before a part can change. */
  toFree: string;
  /** Sentence that says what to do before a part can be deleted. */
  toRelease: string;
  /** Table and column of what a holder owns, in any state, and what is reached only through its parts. */
  owns: { table: string; column: string };
  /** Sentence that says what to do before a part can refer to another place. */
  toDisown: string;
}

/** Rule of rows that prevent the deletion of the record that they refer to, if foreign keys alone cannot express it. */
export interface KeptInUse {
  /** Class name of the entity that must not be deleted. It is a name, because a lower domain may own the entity. */
  kept: string;
  /** Column of the rows `t` that refers to it. */
  column: string;
  /** SQL condition on `t` and the joins. */
  condition: string;
  joins?: string;
  /** Columns that the error reports; rows are ordered by the first. */
  columns: string;
  code: string;
  /** Returns the message of the error with the rows in the form of `named`. */
  message: (names: string) => string;
  named: (row: Readonly<Record<string, unknown>>) => string;
  /** Returns the rows as details of the error. */
  details: (rows: readonly Readonly<Record<string, unknown>>[]) => Record<string, unknown>;
}

/** Rule of rows that are closed together with the record that they refer to. */
export interface EndingRule {
  /** Class name of the entity that is deleted. It is a name, because a lower domain may own the entity. */
  ended: string;
  /** Column of the rows that refers to it. */
  column: string;
}

const kinds = new Map<EntityClass, RecordKindNames>();
const holders = new Map<EntityClass, HolderRule>();
const keepers: { entity: EntityClass; rule: KeptInUse }[] = [];
const endings: { entity: EntityClass<TenantColumns>; rule: EndingRule }[] = [];
let authors: { entity: EntityClass; name: string } | undefined;

/** Declares the names of an entity's kind of record. */
export function RecordKind(names: RecordKindNames) {
  return (entity: EntityClass) => void kinds.set(entity, names);
}

/** Declares that the state of these records protects their parts. */
export function HoldsItsParts(rule: HolderRule) {
  return (entity: EntityClass) => void holders.set(entity, rule);
}

/** Declares which rows of the entity prevent the deletion of a record of another kind. */
export function KeepsInUse(rule: KeptInUse) {
  return (entity: EntityClass) => void keepers.push({ entity, rule });
}

/** Declares that current rows of the entity are closed when a record of another kind is deleted. */
export function EndsWith(rule: EndingRule) {
  return (entity: EntityClass<TenantColumns>) => void endings.push({ entity, rule });
}

/** Declares that these records are the users who create and change all others. @param name column that shows them in responses */
export function AreAuthors<E extends object>(name: keyof E & string) {
  return (entity: EntityClass<E>) => void (authors = { entity, name });
}

/** Returns the table of users who create and change records, its key, and the column that shows them in responses. */
export function authorsTable(): { table: string; key: string; name: string } {
  if (!authors) throw new Error('No entity declares that its records are authors');
  return { table: tableOf(authors.entity), key: keyOf(authors.entity), name: authors.name };
}

export function kindOf(entity: EntityClass): RecordKindNames {
  const names = kinds.get(entity);
  if (!names) throw new Error(`${entity.name} is no named kind of record`);
  return names;
}

/** Returns the names of an entity's kind, if it has any. */
export function findKind(entity: unknown): RecordKindNames | undefined {
  return kinds.get(entity as EntityClass);
}

export function holderRules(): readonly (HolderRule & { entity: EntityClass; table: string; key: string })[] {
  return [...holders].map(([entity, rule]) => ({ ...rule, entity, table: tableOf(entity), key: keyOf(entity) }));
}

export function keepersOf(kept: EntityClass): readonly (KeptInUse & { table: string })[] {
  return keepers
    .filter(({ rule }) => rule.kept === kept.name)
    .map(({ entity, rule }) => ({ ...rule, table: tableOf(entity) }));
}

export function endingWith(ended: EntityClass): readonly (EndingRule & { table: string })[] {
  return endings
    .filter(({ rule }) => rule.ended === ended.name)
    .map(({ entity, rule }) => ({ ...rule, table: tableOf(entity) }));
}
