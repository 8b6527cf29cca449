/** What the process of a Kerberos identity (`gss-process.cjs`) is asked. Contexts are numbered by who asks. */
export type GssRequest =
  /** Begins a context with a service; names are whole principals, `hive/node1@EXAMPLE.ORG`. */
  | { step: 'begin'; context: number; principal: string; keytab: string; cache: string; target: string }
  | { step: 'continue'; context: number; token: Uint8Array }
  | { step: 'wrap'; context: number; token: Uint8Array; confidential: boolean }
  | { step: 'unwrap'; context: number; token: Uint8Array }
  | { step: 'end'; context: number };

/** `token` is what the service is to be told, or what was wrapped or unwrapped; `error` is in the words of Kerberos. */
export interface GssAnswer {
  token?: Uint8Array;
  /** Whether the context is established. */
  complete?: boolean;
  error?: string;
}
