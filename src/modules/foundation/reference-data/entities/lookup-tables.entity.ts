import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { ValidityColumns } from '../../../../platform/kernel/persistence/columns';
import { LOOKUP_NAMES, type LookupName, lookupTable } from '../lookup-tables';

/** Builds an entity class for a table. An EntitySchema would not do: other modules' foreign keys refer to its name. */
function entityOf(name: LookupName): typeof ValidityColumns {
  const { entity, idColumn, columns } = lookupTable(name);
  class Lookup extends ValidityColumns {}
  Object.defineProperty(Lookup, 'name', { value: entity });
  PrimaryColumn({ name: idColumn, type: 'integer', primaryKeyConstraintName: `pk_${name}` })(
    Lookup.prototype,
    idColumn,
  );
  for (const [key, { type, nullable, references }] of Object.entries(columns)) {
    const array = type === 'text[]';
    Column({ name: key, type: array ? 'text' : type, array, nullable })(Lookup.prototype, key);
    if (references === undefined) continue;
    ForeignKey(lookupTable(references as LookupName).entity, { name: `fk_${name}_${key.replace(/_id$/, '')}` })(
      Lookup.prototype,
      key,
    );
  }
  Entity(name)(Lookup);
  return Lookup;
}

export const LOOKUP_ENTITIES = LOOKUP_NAMES.map(entityOf);
