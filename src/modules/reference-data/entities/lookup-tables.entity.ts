import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
import { LOOKUP_NAMES, type LookupColumn, type LookupName, lookupTable } from '../lookup-tables';

function columnOptions(name: string, { type, nullable }: LookupColumn): EntitySchemaColumnOptions {
  const array = type === 'text[]';
  return { name, type: array ? 'text' : type, array, nullable };
}

function entityOf(name: LookupName): EntitySchema {
  const { entity, idColumn, columns } = lookupTable(name);
  return new EntitySchema({
    name: entity,
    tableName: name,
    columns: {
      [idColumn]: { name: idColumn, type: 'integer', primary: true, primaryKeyConstraintName: `pk_${name}` },
      ...Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, columnOptions(key, column)])),
      from_date: { name: 'from_date', type: 'timestamptz', default: () => 'now()' },
      to_date: { name: 'to_date', type: 'timestamptz', default: 'infinity' },
    },
    foreignKeys: Object.entries(columns).flatMap(([key, { references }]) => {
      if (references === undefined) return [];
      const target = lookupTable(references as LookupName);
      return [
        {
          target: target.entity,
          columnNames: [key],
          referencedColumnNames: [target.idColumn],
          name: `fk_${name}_${key.replace(/_id$/, '')}`,
        },
      ];
    }),
  });
}

/** Schemas of the lookup tables, made from their definitions. */
export const LOOKUP_ENTITIES = LOOKUP_NAMES.map(entityOf);
