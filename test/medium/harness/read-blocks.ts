import type { DataSource } from 'typeorm';

/** A database that explains each statement before it runs it, to count the blocks that it reads. */
export interface ExplainedDatabase {
  dataSource: DataSource;
  /** Numbers of blocks, one for each statement. */
  blocks: number[];
}

export function explainedDatabase(database: DataSource): ExplainedDatabase {
  const blocks: number[] = [];
  const query = async (sql: string, params: unknown[]) => {
    const [row] = await database.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sql}`, params);
    const { Plan: plan } = row['QUERY PLAN'][0];
    blocks.push(Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']));
    return database.query(sql, params);
  };
  return { dataSource: { manager: { query } } as unknown as DataSource, blocks };
}

/** Returns the number of blocks that all statements have read. */
export function sumOf(blocks: readonly number[]): number {
  return blocks.reduce((sum, count) => sum + count, 0);
}
