import { Catalogs } from './catalogs.ts';
import { Cluster, Clusters } from './clusters.ts';
import { createWorkspace, getUserInfo, getWorkspace, listWorkspaces } from './generated/operations.ts';
import type { UserInfo, WorkspaceRead } from './generated/types.ts';
import type { Context, Ref } from './host.ts';
import type { Notebook } from './notebooks.ts';
import type { Operation, PagedOperation } from './operation.ts';
import type { Run } from './runs.ts';
import type { Arguments } from './transport.ts';
import { Workspace } from './workspaces.ts';

/** Base class of the clients for Node and for browsers. */
export class BaseClient {
  readonly #context: Context;
  readonly clusters: Clusters;
  readonly catalogs: Catalogs;

  constructor(context: Context) {
    this.#context = context;
    this.clusters = new Clusters(context);
    this.catalogs = new Catalogs(context);
  }

  /** Returns the workspace of this name, or of this id if it is a number, without a request. */
  workspace(workspace: Ref): Workspace {
    return new Workspace(this.#context, workspace);
  }

  workspaces(): AsyncGenerator<WorkspaceRead> {
    return this.#context.transport.pages(listWorkspaces);
  }

  async createWorkspace(name: string, { description }: { description?: string } = {}): Promise<WorkspaceRead> {
    const { transport } = this.#context;
    const { workspace_id } = await transport.call(createWorkspace, { body: { name, description } });
    return transport.call(getWorkspace, { query: { workspace_id } });
  }

  /** Returns the cluster of this name, or of this id if it is a number, without a request. */
  cluster(cluster: Ref): Cluster {
    return new Cluster(this.clusters, cluster);
  }

  /** Returns a run whose ids are known, without a request. */
  run(workspaceId: number, jobId: number): Run {
    return this.workspace(workspaceId).jobs.get(jobId);
  }

  /** Returns an instance of a notebook whose ids are known, without a request. */
  notebook(workspaceId: number, notebookId: number): Notebook {
    return this.workspace(workspaceId).notebooks.get(notebookId);
  }

  /** Returns the user of this client. */
  user(): Promise<UserInfo> {
    return this.#context.transport.call(getUserInfo);
  }

  /** Calls any operation of the API, including those without a method here: `client.call(operations.listGroups)`. */
  call<I, A>(operation: Operation<I, A>, ...request: Arguments<I>): Promise<A> {
    return this.#context.transport.call(operation, ...request);
  }

  /** Yields the records of all pages of an operation. */
  pages<I, P, R>(operation: PagedOperation<I, P, R>, ...request: Arguments<I>): AsyncGenerator<R> {
    return this.#context.transport.pages(operation, ...request);
  }

  /** Returns the successful response of an operation, whose body the caller reads. */
  send<I>(operation: Operation<I, unknown>, ...request: Arguments<I>): Promise<Response> {
    return this.#context.transport.send(operation, ...request);
  }
}
