import type { MigrationInterface } from 'typeorm';
import { sourceExports } from './source-exports';

/** Every migration, oldest first: the names of their files begin with their times. */
export const MIGRATIONS = sourceExports(/\/migrations\/\d+-.+\.[jt]s$/) as (new () => MigrationInterface)[];
