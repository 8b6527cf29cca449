import { getMetadataArgsStorage } from 'typeorm';

/** The class of an entity, whose instances are the rows of its table. */
export type EntityClass<E extends object = object> = abstract new () => E;

/** Returns the name of the entity's table, even if no database is connected. */
export function tableOf(entity: EntityClass): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  if (table?.name === undefined) throw new Error(`${entity.name} is no entity with a named table`);
  return table.name;
}

/** Returns the names of the entity's columns, inherited ones included. */
export function columnsOf<E extends object>(entity: EntityClass<E>): (keyof E & string)[] {
  return columnArgs(entity).map(({ propertyName }) => propertyName as keyof E & string);
}

/** Returns the column of the entity's primary key. Throws if the key has several columns. */
export function keyOf<E extends object>(entity: EntityClass<E>): keyof E & string {
  const [key, ...others] = columnArgs(entity).filter(({ options }) => options.primary === true);
  if (!key || others.length > 0) throw new Error(`${entity.name} has no primary key of one column`);
  return key.propertyName as keyof E & string;
}

function columnArgs(entity: EntityClass) {
  const classes: unknown[] = [];
  for (let target: unknown = entity; typeof target === 'function'; target = Object.getPrototypeOf(target)) {
    classes.push(target);
  }
  return getMetadataArgsStorage().filterColumns(classes as (new () => object)[]);
}
