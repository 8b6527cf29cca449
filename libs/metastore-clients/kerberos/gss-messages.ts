/** A request to the process of a Kerberos identity (`gss-process.cjs`). The parent numbers the contexts. */
export type GssRequest =
  /** Begins a context with a service; principals include their realm, `hive/node1@EXAMPLE.ORG`. */
  | { step: 'begin'; context: number; principal: string; keytab: string; cache: string; target: string }
  | { step: 'continue'; context: number; token: Uint8Array }
  | { step: 'wrap'; context: number; token: Uint8Array; confidential: boolean }
  | { step: 'unwrap'; context: number; token: Uint8Array }
  | { step: 'end'; context: number };

/** `token` is the next token for the service, or the wrapped or unwrapped message; `error` is the message of Kerberos. */
export interface GssResponse {
  token?: Uint8Array;
  /** True if the context is established. */
  complete?: boolean;
  error?: string;
}
