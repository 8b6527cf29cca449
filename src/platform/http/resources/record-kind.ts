import type { TenantColumns } from '../../kernel/persistence/columns';
import { type EntityClass, keyOf, tableOf } from '../../kernel/persistence/entity-table';

/** What messages call a kind of record: the beginning of its error codes, and its name in lower case. */
export interface RecordKindNames {
  /** `CLOUD_ENV` */
  code: string;
  /** `cloud environment`; the plural takes an s. */
  label: string;
}

/** A kind of record whose state protects its parts: they do not change while it is in any but the `free` states. */
export interface HolderRule {
  free: readonly string[];
  /** What to do before a part can change, in a sentence. */
  toFree: string;
  /** What to do before a part can be deleted, in a sentence. */
  toRelease: string;
  /** Table whose current rows, by the column, are what a record has that is only reached by its parts: in any state. */
  owns: { table: string; column: string };
  /** What to do before such a part can lead elsewhere, in a sentence. */
  toDisown: string;
}

/** Rows that keep what they refer to from being deleted, where the foreign key alone does not say which. */
export interface KeptInUse {
  /** Class name of the entity that is kept; its domain may be below that of the rows. */
  kept: string;
  /** Column of the rows `t` that names it. */
  column: string;
  /** SQL over `t` and the joins. */
  condition: string;
  joins?: string;
  /** What is reported of each row, ordered by its first column. */
  columns: string;
  code: string;
  /** The sentence of the error, with the rows as `named` puts them. */
  message: (names: string) => string;
  named: (row: Readonly<Record<string, unknown>>) => string;
  /** The key and form of the rows in the details of the error. */
  details: (rows: readonly Readonly<Record<string, unknown>>[]) => Record<string, unknown>;
}

/** Rows that end together with what they refer to. */
export interface EndingRule {
  /** Class name of the entity whose end it is; its domain may be below that of the rows. */
  ended: string;
  /** Column of the rows that names it. */
  column: string;
}

const kinds = new Map<EntityClass, RecordKindNames>();
const holders = new Map<EntityClass, HolderRule>();
const keepers: { entity: EntityClass; rule: KeptInUse }[] = [];
const endings: { entity: EntityClass<TenantColumns>; rule: EndingRule }[] = [];
let authors: { entity: EntityClass; name: string } | undefined;

/** Names the kind of record that an entity is. */
export function RecordKind(names: RecordKindNames) {
  return (entity: EntityClass) => void kinds.set(entity, names);
}

/** Declares that the state of these records protects their parts. */
export function HoldsItsParts(rule: HolderRule) {
  return (entity: EntityClass) => void holders.set(entity, rule);
}

/** States beside an entity which of its rows keep a record of another kind from being deleted. */
export function KeepsInUse(rule: KeptInUse) {
  return (entity: EntityClass) => void keepers.push({ entity, rule });
}

/** States beside an entity that its current rows end when a record of another kind is deleted. */
export function EndsWith(rule: EndingRule) {
  return (entity: EntityClass<TenantColumns>) => void endings.push({ entity, rule });
}

/** Declares that these records are the users who create and change all others. @param name the column that shows them in answers */
export function AreAuthors<E extends object>(name: keyof E & string) {
  return (entity: EntityClass<E>) => void (authors = { entity, name });
}

/** The table of those who create and change records, its key, and the column that shows them in answers. */
export function authorsTable(): { table: string; key: string; name: string } {
  if (!authors) throw new Error('No entity declares that its records are authors');
  return { table: tableOf(authors.entity), key: keyOf(authors.entity), name: authors.name };
}

export function kindOf(entity: EntityClass): RecordKindNames {
  const names = kinds.get(entity);
  if (!names) throw new Error(`${entity.name} is no named kind of record`);
  return names;
}

/** The kind of an entity, if users know it by name. */
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
