import { getMetadataArgsStorage } from 'typeorm';
import type { EntityClass } from '../platform/kernel/persistence/entity-table';
import { sourceExports } from './source-exports';

const declared = sourceExports(/\.entity\.[jt]s$/).flat();
const tables = new Set<unknown>(getMetadataArgsStorage().tables.map(({ target }) => target));

/** Every entity: all classes with a table in files named `*.entity.ts`. */
export const ENTITIES = declared.filter((value): value is EntityClass => tables.has(value));
