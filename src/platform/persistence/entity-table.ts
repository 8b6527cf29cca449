import { getMetadataArgsStorage } from 'typeorm';

/** The class of an entity, whose instances are the rows of its table. */
export type EntityClass<E extends object = object> = abstract new () => E;

/** Name of the entity's table: also where no database is connected. */
export function tableOf(entity: EntityClass): string {
  const table = getMetadataArgsStorage().tables.find(({ target }) => target === entity);
  if (table?.name === undefined) throw new Error(`${entity.name} is no entity with a named table`);
  return table.name;
}

/** Names of the entity's columns, inherited ones included. */
export function columnsOf<E extends object>(entity: EntityClass<E>): (keyof E & string)[] {
  const classes: unknown[] = [];
  for (let target: unknown = entity; typeof target === 'function'; target = Object.getPrototypeOf(target)) {
    classes.push(target);
  }
  return getMetadataArgsStorage()
    .filterColumns(classes as (new () => object)[])
    .map(({ propertyName }) => propertyName as keyof E & string);
}
