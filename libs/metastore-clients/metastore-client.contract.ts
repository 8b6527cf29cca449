import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type MetastoreClient, MetastoreError, MAX_DESCRIBED, type SchemaRef } from './metastore-client';

/** Tables that {@link MetastoreUnderTest.filled} has, not in their order. */
export const CONTRACT_TABLES = ['orders', 'customers', 'parts'];

/** A client under test and what its metastore holds. */
export interface MetastoreUnderTest {
  client: MetastoreClient;
  /** Has {@link CONTRACT_TABLES}, each with the columns `id` and `name` and partitioned by `day`. */
  filled: SchemaRef;
  /** Has nothing. */
  empty: SchemaRef;
  missing: SchemaRef;
  /** The same client supposed on another port of 127.0.0.1. */
  at: (port: number, deadlineMs: number) => MetastoreClient;
  close: () => Promise<void>;
}

const PATIENCE_MS = 30_000;
const HURRY_MS = 300;

/** Longer than any test with {@link HURRY_MS} may take. */
const SOON_MS = 25_000;

const never = new AbortController().signal;

/** Tests that every metastore client must pass, whatever its provider. */
export function describeMetastoreClientContract(name: string, make: () => Promise<MetastoreUnderTest>): void {
  describe(`${name} holds the contract of metastore clients`, () => {
    let tested: MetastoreUnderTest;
    let client: MetastoreClient;

    beforeAll(async () => {
      tested = await make();
      client = tested.client;
    });
    afterAll(() => tested.close());

    describe('lists', () => {
      it('schemas in their order', async () => {
        const { filled, empty } = tested;
        const names = (await client.listSchemas(filled.catalog, never)).map((schema) => schema.name);
        expect(names).toEqual([...new Set(names)].sort());
        expect(names).toEqual(expect.arrayContaining([filled.schema, empty.schema]));
      });

      it('tables in their order', async () => {
        const tables = await client.listTables(tested.filled, never);
        expect(tables.map((table) => table.name)).toEqual([...CONTRACT_TABLES].sort());
        for (const table of tables) expect(table).toMatchObject(tested.filled);
      });

      it('no tables of an empty schema', async () => {
        expect(await client.listTables(tested.empty, never)).toEqual([]);
        expect(await client.listFunctions(tested.empty, never)).toEqual([]);
        expect(await client.listVolumes(tested.empty, never)).toEqual([]);
      });

      it('fail for a schema that does not exist', async () => {
        await expect(client.listTables(tested.missing, never)).rejects.toMatchObject({ fault: 'missing' });
        await expect(client.listFunctions(tested.missing, never)).rejects.toMatchObject({ fault: 'missing' });
      });
    });

    describe('tables', () => {
      it('are described in their order, without those that do not exist', async () => {
        const described = await client.describeTables(tested.filled, ['parts', 'gone', 'orders', 'parts'], never);
        expect(described.map((table) => table.name)).toEqual(['orders', 'parts']);
        expect(described.map((table) => typeof table.tableType)).toEqual(['string', 'string']);
        for (const table of described) expect(table).toMatchObject(tested.filled);
        expect(await client.describeTables(tested.filled, [], never)).toEqual([]);
      });

      it('are described a hundred at a time', async () => {
        const names = Array.from({ length: MAX_DESCRIBED + 1 }, (_, at) => `t${at}`);
        expect(await client.describeTables(tested.filled, names.slice(1), never)).toEqual([]);
        await expect(client.describeTables(tested.filled, names, never)).rejects.toThrow(RangeError);
      });

      it('are read whole', async () => {
        const table = await client.readTable({ ...tested.filled, table: 'orders' }, never);
        expect(table).toMatchObject({ ...tested.filled, name: 'orders', viewText: null });
        expect(table?.columns.map((column) => column.name)).toEqual(['id', 'name']);
        expect(table?.partitionColumns.map((column) => column.name)).toEqual(['day']);
        expect(table?.location).toMatch(/^\w+:\//);
      });

      it('may be missing', async () => {
        expect(await client.readTable({ ...tested.filled, table: 'gone' }, never)).toBeNull();
      });
    });

    describe('calls end', () => {
      const soon = async (work: Promise<unknown>): Promise<unknown> => {
        const begun = performance.now();
        const error = await work.then(
          () => null,
          (reason: unknown) => reason,
        );
        expect(performance.now() - begun).toBeLessThan(SOON_MS);
        return error;
      };

      it('at the deadline, if the server never answers', async () => {
        await serving(ignore, async (port) => {
          const hurried = tested.at(port, HURRY_MS);
          expect(await soon(hurried.listTables(tested.filled, never))).toMatchObject({ fault: 'timeout' });
          hurried.close();
        });
      });

      it('when their caller aborts', async () => {
        expect(await soon(client.listTables(tested.filled, AbortSignal.abort()))).toMatchObject({ fault: 'timeout' });
        await serving(ignore, async (port) => {
          const patient = tested.at(port, PATIENCE_MS);
          const calls = Array.from({ length: 8 }, () => patient.listTables(tested.filled, AbortSignal.timeout(100)));
          for (const call of calls) expect(await soon(call)).toMatchObject({ fault: 'timeout' });
          patient.close();
        });
      });

      it('when the client is closed', async () => {
        await serving(ignore, async (port) => {
          const patient = tested.at(port, PATIENCE_MS);
          const calls = Array.from({ length: 8 }, () => soon(patient.listTables(tested.filled, never)));
          setTimeout(() => patient.close(), 100);
          for (const error of await Promise.all(calls)) expect(error).toMatchObject({ fault: 'unreachable' });
          expect(await soon(patient.listTables(tested.filled, never))).toMatchObject({ fault: 'unreachable' });
        });
      });

      it('if no server listens', async () => {
        let freed = 0;
        await serving(ignore, async (port) => void (freed = port));
        const lonely = tested.at(freed, PATIENCE_MS);
        expect(await soon(lonely.listTables(tested.filled, never))).toMatchObject({ fault: 'unreachable' });
        lonely.close();
      });

      it('if connections are closed', async () => {
        await serving(
          (socket) => socket.once('data', () => socket.destroy()),
          async (port) => {
            const dropped = tested.at(port, PATIENCE_MS);
            expect(await soon(dropped.listTables(tested.filled, never))).toMatchObject({ fault: 'unreachable' });
            dropped.close();
          },
        );
      });

      it('if another kind of server answers', async () => {
        await serving(
          (socket) => socket.once('data', () => socket.end('220 mail.example.org ESMTP\r\n'.repeat(100))),
          async (port) => {
            const misled = tested.at(port, PATIENCE_MS);
            expect(await soon(misled.listTables(tested.filled, never))).toMatchObject({ fault: 'failed' });
            misled.close();
          },
        );
      });
    });
  });
}

function ignore(socket: Socket): void {
  socket.resume();
}

/** A server that treats each connection so, for as long as `work` takes. */
async function serving(treat: (socket: Socket) => void, work: (port: number) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    treat(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await work((server.address() as AddressInfo).port);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  }
}

/** Returns the error of a call that must fail. */
export async function faultOf(call: Promise<unknown>): Promise<MetastoreError> {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(MetastoreError);
  return error as MetastoreError;
}
