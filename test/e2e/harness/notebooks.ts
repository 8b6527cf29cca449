import { eventually } from '../../harness/eventually';
import { KernelTestClient } from '../../harness/kernel-client';
import type { ApiClient, Json } from './api-client';

/** A cell of Python whose Spark job never ends. It prints a line once the job runs. */
export const ENDLESS_JOB = `import threading, time
def tell():
    while not spark.sparkContext.statusTracker().getActiveJobsIds():
        time.sleep(0.05)
    print("a job runs", flush=True)
threading.Thread(target=tell).start()
spark.range(0, 10**13, 1, 2).selectExpr("sum(id % 7)").collect()`;

/** Returns a code cell that was not executed yet. */
export const code = (cell_uuid: string, text: string) => ({ cell_uuid, cell_type: 'code', code: text, output: [] });

/** Notebooks of one workspace, on one cluster. */
export class NotebookDesk {
  private readonly clients: KernelTestClient[] = [];

  private constructor(
    private readonly client: ApiClient,
    private readonly clusterId: number,
    readonly path: string,
  ) {}

  static async open(client: ApiClient, clusterId: number, name: string): Promise<NotebookDesk> {
    const { workspace_id: id } = await client.post('/workspace', { name });
    return new NotebookDesk(client, clusterId, `/workspace/${id}`);
  }

  /** Creates a configuration with a small driver and the cells; returns its id. */
  async describe(name: string, type: string, cells: object[]): Promise<number> {
    const body = { notebook_name: name, notebook_type: type, cluster_id: this.clusterId, driver_memory: '512m' };
    const { notebook_conf_id: id } = await this.client.post(`${this.path}/notebook/conf`, body);
    await this.client.post(`${this.path}/notebook/${id}/update`, { cells }, 201);
    return Number(id);
  }

  /** Starts a notebook and waits until it runs; returns its id. */
  async start(confId: number): Promise<number> {
    const { notebook_id: id } = await this.client.post(`${this.path}/notebook`, { notebook_conf_id: confId });
    await eventually(
      async () => {
        const { notebook_status: status, reason } = await this.client.get(`${this.path}/notebook/${id}`);
        if (!['SUBMITTED', 'RUNNING'].includes(status)) throw new Error(`The notebook is ${status}: ${reason}`);
        return status === 'RUNNING';
      },
      { timeoutMs: 240_000, what: `notebook ${id} RUNNING` },
    );
    return Number(id);
  }

  /** Opens a socket to the kernel. */
  async connect(id: number): Promise<KernelTestClient> {
    const path = `${this.path}/notebook/${id}/kernel/ws/any_session/${this.client.currentToken}`;
    const client = await KernelTestClient.open(`${this.client.baseUrl}/api/v1${path}`);
    this.clients.push(client);
    return client;
  }

  /** Closes every open socket. */
  disconnect(): void {
    for (const { socket } of this.clients.splice(0)) socket.terminate();
  }

  async outputsOf(confId: number, cellUuid: string): Promise<{ type: string; Celloutput: string }[]> {
    const conf = await this.client.get(`${this.path}/notebook/conf`, { notebook_conf_id: confId });
    const cell = (conf.notebook_cells.cells as Json[]).find((one) => one.cell_uuid === cellUuid);
    return (cell?.output ?? []) as { type: string; Celloutput: string }[];
  }

  async ended(id: number, status = 'STOPPED'): Promise<Json> {
    return eventually(
      async () => {
        const found = await this.client.get(`${this.path}/notebook/${id}`);
        return found.notebook_status === status ? found : null;
      },
      { timeoutMs: 240_000, what: `notebook ${id} ${status}` },
    );
  }
}
