import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The agent in one file, as `scripts/build/agent.mjs` makes it: `dist/agent/agent.js` beside this file's tree. */
export const AGENT_BUNDLE = join(__dirname, '..', '..', '..', 'agent', 'agent.js');

export interface AgentBundle {
  sha256: string;
  content: Buffer;
}

/** The agent of this release; an error if the build did not make it. */
export async function readAgentBundle(file = AGENT_BUNDLE): Promise<AgentBundle> {
  const content = await readFile(file);
  return { sha256: createHash('sha256').update(content).digest('hex'), content };
}
