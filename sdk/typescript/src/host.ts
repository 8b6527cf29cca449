import type { Transport } from './transport.ts';

/** A file that can be uploaded. */
export interface LocalFile {
  name: string;
  content: Blob;
}

/** The functions that Node and browsers implement in different ways. */
export interface Host {
  /** Returns the file of this path. */
  open(path: string): Promise<LocalFile>;
  /** Writes a file to this path. It appears once it is complete. */
  save(path: string, content: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void>;
  openSocket(url: string): WebSocket;
}

/** The parts that all objects of a client share. */
export interface Context {
  readonly transport: Transport;
  readonly host: Host;
}

/** Error code of a name that another record already has. */
export const NAME_TAKEN = 'RECORD.DUPLICATE_NAME' as const;

/** A name, or an id if it is a number. */
export type Ref = number | string;

/** The fields that name a record by its id or by its name. */
export type Chosen<K extends string> = { [Key in `${K}_id`]?: number } & { [Key in `${K}_name`]?: string };

/** Selects a record by id or by name, in the parameters of the operations: a number is an id. */
export function chosen<K extends string>(kind: K, ref: Ref): Chosen<K> {
  return { [`${kind}_${typeof ref === 'number' ? 'id' : 'name'}`]: ref } as Chosen<K>;
}
