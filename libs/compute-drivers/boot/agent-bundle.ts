import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Path of the agent in one file, `dist/agent/agent.js`, which `scripts/build/agent.mjs` builds. */
export const AGENT_BUNDLE = join(__dirname, '..', '..', '..', 'agent', 'agent.js');

export interface AgentBundle {
  sha256: string;
  content: Buffer;
}

/** Reads the agent of this release. Throws if it was not built. */
export async function readAgentBundle(file = AGENT_BUNDLE): Promise<AgentBundle> {
  const content = await readFile(file);
  return { sha256: createHash('sha256').update(content).digest('hex'), content };
}
