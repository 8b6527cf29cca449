import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describedOperations, generate } from '../generate.mjs';
import * as operations from './generated/operations.ts';

const FOLDER = join(__dirname, '..');
const MAX_CORE_BYTES = 6_000;

describe('generate', () => {
  it('makes a constant for each operation but sockets and foreign bodies', () => {
    const document = JSON.parse(readFileSync(join(FOLDER, '..', '..', 'openapi.json'), 'utf8'));
    const described = describedOperations(document).map(([, , { operationId }]) => operationId);
    expect(described.length).toBeGreaterThan(300);
    expect(Object.keys(operations).sort()).toEqual(described.sort());
    expect(described).not.toContain('thriftSql');
    expect(described).not.toContain('openKernelSocket');
  });

  it('makes types and conversions of a schema, also of one that contains itself', () => {
    const reference = { $ref: '#/components/schemas/Node' };
    const node = {
      type: 'object',
      description: 'A node. */',
      required: ['node_id', 'kind'],
      properties: {
        node_id: { type: 'string', format: 'int64' },
        kind: { enum: ['A', null], type: ['string', 'null'] },
        to_date: { type: 'string', description: 'The end' },
        parent: { anyOf: [reference, { type: 'null' }] },
        children: { type: 'array', items: { anyOf: [reference, { type: 'null' }] } },
        'py-files': { type: 'array', items: { enum: ["it's", 'B'] } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    };
    const page = { type: 'object', properties: { data: { type: 'array', items: reference }, result_set: {} } };
    const parameters = [
      { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'int64' } },
      { name: 'limit', in: 'query', schema: { type: 'integer' } },
    ];
    const responses = { 200: { content: { 'application/json': { schema: page } } } };
    const operation = { operationId: 'listNodes', summary: 'List', parameters, responses };
    const text = {
      operationId: 'getLog',
      responses: { 200: { content: { 'text/plain': { schema: { type: 'string' } } } } },
    };
    const made = generate({
      servers: [{ url: '/api/v1' }],
      paths: { '/nodes/{id}': { get: operation }, '/log': { get: text } },
      components: { schemas: { Node: node } },
    });
    expect(made.types).toBe(`
/** A node. *\\/ */
export interface Node {
  node_id: number;
  kind: 'A' | null;
  /** The end */
  to_date?: string | null;
  parent?: Node | null;
  children?: (Node | null)[];
  'py-files'?: ('it\\'s' | 'B')[];
  labels?: Record<string, string>;
}
`);
    expect(made.operations).toContain(
      "const $Node: Shape = { node_id: 'int', to_date: 'open', get parent() { return $Node; }, get children() { return [$Node]; } };",
    );
    expect(made.operations).toContain(`export interface ListNodesInput {
  path: {
    id: number;
  };
  query?: {
    limit?: number | null | undefined;
  };
}
/** List */
export const listNodes: PagedOperation<ListNodesInput, {
  data?: types.Node[];
  result_set?: unknown;
}, types.Node> = { name: 'listNodes', method: 'GET', path: '/api/v1/nodes/{id}', shape: { data: [$Node] } };`);
    expect(made.operations).toContain(
      "export const getLog: Operation<GetLogInput, string> = { name: 'getLog', method: 'GET', path: '/api/v1/log', as: 'text' };",
    );
  });
});

describe('the core', () => {
  it('is small, and a bundle has only the operations that it uses', async () => {
    const { gzipSync } = await import('node:zlib');
    const contents = `
      import { CookieSession, Transport } from './core.ts';
      import { listClusters } from './generated/operations.ts';
      new Transport({ url: '', session: new CookieSession() }).call(listClusters).then(console.log);`;
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: join(FOLDER, 'src') },
      bundle: true,
      minify: true,
      format: 'esm',
      target: 'es2022',
      platform: 'browser',
      write: false,
    });
    const [{ contents: bundle, text } = { contents: new Uint8Array(), text: '' }] = outputFiles;
    expect(text).toContain('/api/v1/clusters');
    expect(text).not.toContain('/api/v1/workspace/');
    expect(gzipSync(bundle, { level: 9 }).length).toBeLessThan(MAX_CORE_BYTES);
  });
});
