import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { shellQuoted } from '../../spark/shell-quoted';
import type { BootScript } from '../cloud-driver';
import { ComputeDriverError, type NodeSpec } from '../compute-driver';

/** A component of nodes: a gzipped tar archive with one top-level folder. */
interface RuntimeItem {
  name: string;
  version: string;
  /** Architecture of the machines it is for; null for any. */
  architecture: string | null;
  /** Spark version of the nodes it is for; null for any. */
  sparkVersion: string | null;
  /** Path below the mirror's URL. */
  path: string;
  sha256: string;
}

export interface BootScriptOptions {
  /** Checksum of the agent's bundle, which is part of its URL. */
  agentSha256: string;
  /** Base URL of the items, without a trailing slash. */
  mirror: string | null;
  items: readonly RuntimeItem[];
  /** PEM of certificate authorities that nodes trust besides the system's. */
  ca: string | null;
}

/** EC2's limit is 16 kB; the limits of the other providers are higher. */
const MAX_SCRIPT_BYTES = 16 * 1024;

/** Returns a function that builds boot scripts: settings of the node, then the two files beside this one. */
export function makeBootScript(options: BootScriptOptions): BootScript {
  const [install, boot] = ['install.sh', 'boot.sh'].map((file) => withoutComments(join(__dirname, file)));
  return (spec, notice) => {
    const { boot: nodeBoot, machine, disks } = spec;
    checkAccelerator(spec, options.items);
    const settings: Record<string, string> = {
      API: nodeBoot.agentApiUrl.replace(/\/+$/, ''),
      TOKEN: nodeBoot.bootstrapToken,
      AGENT: options.agentSha256,
      SPARK: nodeBoot.sparkVersion,
      CORES: String(machine.cores),
      MEMORY: String(machine.memoryMb),
      DISKS: String(disks.length),
      NOTICE: notice ?? '',
      MIRROR: options.mirror ?? '',
      CA: options.ca?.trim() ?? '',
    };
    const lines = [
      '#!/bin/sh',
      ...Object.entries(settings).map(([name, value]) => `${name}=${shellQuoted(value)}`),
      install,
      'items() {',
      '  :',
      ...itemsOf(spec, options.items).map((item) => `  item ${itemWords(item).map(shellQuoted).join(' ')}`),
      '}',
      boot,
      '',
    ];
    const script = lines.join('\n');
    const bytes = Buffer.byteLength(script);
    if (bytes > MAX_SCRIPT_BYTES) {
      const message = `The boot script of the node has ${bytes} bytes, and ${MAX_SCRIPT_BYTES} are possible. Shorten the file named by NODE_CA_FILE.`;
      throw new ComputeDriverError('BOOT.SCRIPT_TOO_LONG', message, { kind: 'invalid' });
    }
    return script;
  };
}

/** Returns the items that the node needs. If several items of one name fit, the first is used. */
function itemsOf({ machine, boot }: NodeSpec, items: readonly RuntimeItem[]): RuntimeItem[] {
  const fitting = items.filter(
    ({ architecture, sparkVersion }) =>
      (architecture === null || architecture === machine.architecture) &&
      (sparkVersion === null || sparkVersion === boot.sparkVersion),
  );
  return fitting.filter((item, index) => fitting.findIndex(({ name }) => name === item.name) === index);
}

/** Items that depend on the Spark version have it in the name of their folder, because an image may have several versions. */
function itemWords({ name, version, sparkVersion, path, sha256 }: RuntimeItem): string[] {
  return [sparkVersion === null ? name : `${name}-${sparkVersion}`, version, path, sha256];
}

/** Checks only Turbo, because the image may have items that the manifest does not name. A machine without Spark reports that itself. */
function checkAccelerator(spec: NodeSpec, items: readonly RuntimeItem[]): void {
  const { accelerator = null, sparkVersion } = spec.boot;
  if (accelerator !== 'turbo' || items.length === 0) return;
  if (itemsOf(spec, items).some(({ name }) => name === 'turbo')) return;
  const message = `The file named by RUNTIME_MANIFEST has no turbo for Spark ${sparkVersion}. Add it, or create the cluster without Turbo.`;
  throw new ComputeDriverError('BOOT.ACCELERATOR_UNAVAILABLE', message, { kind: 'invalid' });
}

function withoutComments(file: string): string {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(#(?!!)|$)/.test(line))
    .join('\n');
}
