import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BootScript } from '../cloud-driver';
import { ComputeDriverError, type NodeSpec } from '../compute-driver';

/** One of the things that nodes are made of: a gzipped tar with one folder at its top. */
interface RuntimeItem {
  name: string;
  version: string;
  /** Of the machines it is for; null for any. */
  architecture: string | null;
  /** Of the nodes it is for; null for any. */
  sparkVersion: string | null;
  /** Below the mirror's URL. */
  path: string;
  sha256: string;
}

export interface BootScriptOptions {
  /** Of the agent's bundle, which the agents' API serves under it. */
  agentSha256: string;
  /** Base URL of the items, without a slash at its end. */
  mirror: string | null;
  items: readonly RuntimeItem[];
  /** PEM of authorities that nodes trust besides the usual ones. */
  ca: string | null;
}

/** EC2 takes 16 kB and no more; the other providers take more. */
const MAX_SCRIPT_BYTES = 16 * 1024;

/** Makes the scripts of nodes: settings of the node, then the two files beside this one. */
export function makeBootScript(options: BootScriptOptions): BootScript {
  const [install, boot] = ['install.sh', 'boot.sh'].map((file) => withoutComments(join(__dirname, file)));
  return (spec, notice) => {
    const { boot: wanted, machine, disks } = spec;
    checkAccelerator(spec, options.items);
    const settings: Record<string, string> = {
      API: wanted.agentApiUrl.replace(/\/+$/, ''),
      TOKEN: wanted.bootstrapToken,
      AGENT: options.agentSha256,
      SPARK: wanted.sparkVersion,
      CORES: String(machine.cores),
      MEMORY: String(machine.memoryMb),
      DISKS: String(disks.length),
      NOTICE: notice ?? '',
      MIRROR: options.mirror ?? '',
      CA: options.ca?.trim() ?? '',
    };
    const lines = [
      '#!/bin/sh',
      ...Object.entries(settings).map(([name, value]) => `${name}=${quoted(value)}`),
      install,
      'items() {',
      '  :',
      ...itemsOf(spec, options.items).map((item) => `  item ${itemWords(item).map(quoted).join(' ')}`),
      '}',
      boot,
      '',
    ];
    const script = lines.join('\n');
    const bytes = Buffer.byteLength(script);
    if (bytes > MAX_SCRIPT_BYTES) {
      const message = `The script that nodes boot by has ${bytes} bytes; ${MAX_SCRIPT_BYTES} are possible. NODE_CA_FILE holds too much.`;
      throw new ComputeDriverError('BOOT.SCRIPT_TOO_LONG', message, { kind: 'invalid' });
    }
    return script;
  };
}

/** What the node is made of; of several that fit, the first. */
function itemsOf({ machine, boot }: NodeSpec, items: readonly RuntimeItem[]): RuntimeItem[] {
  const fitting = items.filter(
    ({ architecture, sparkVersion }) =>
      (architecture === null || architecture === machine.architecture) &&
      (sparkVersion === null || sparkVersion === boot.sparkVersion),
  );
  return fitting.filter((item, index) => fitting.findIndex(({ name }) => name === item.name) === index);
}

/** What depends on the version of Spark is in a folder of that version: an image may have several. */
function itemWords({ name, version, sparkVersion, path, sha256 }: RuntimeItem): string[] {
  return [sparkVersion === null ? name : `${name}-${sparkVersion}`, version, path, sha256];
}

/** An image may have what the manifest does not name; a machine that lacks Spark fails with the reason. */
function checkAccelerator(spec: NodeSpec, items: readonly RuntimeItem[]): void {
  const { accelerator = null, sparkVersion } = spec.boot;
  if (accelerator !== 'turbo' || items.length === 0) return;
  if (itemsOf(spec, items).some(({ name }) => name === 'turbo')) return;
  const message = `RUNTIME_MANIFEST names no turbo for Spark ${sparkVersion}.`;
  throw new ComputeDriverError('BOOT.ACCELERATOR_UNAVAILABLE', message, { kind: 'invalid' });
}

function withoutComments(file: string): string {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(#(?!!)|$)/.test(line))
    .join('\n');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
