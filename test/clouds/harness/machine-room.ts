import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses, NODE_MARK, signal } from '../../../libs/node-agent/processes';
import { eventually } from '../../harness/eventually';

/** A machine as a provider's counterpart has it. */
export interface RoomMachine {
  id: string;
  state: 'running' | 'stopped';
  /** How often it was started; from 1. */
  boots: number;
  userData: string;
}

export interface MachineRoomOptions {
  /** All machines that there are; one that is missing has been terminated. */
  list(): Promise<readonly RoomMachine[]>;
  /** Whether user data are run at each boot, as at Google, instead of the first. */
  scriptAtEachBoot?: boolean;
  /** Lays what the image of each machine has below its root, such as links to a prepared runtime. */
  image?(root: string): void;
}

interface Running {
  boots: number;
  address: string;
  metadata: Server;
  /** When the machine is taken back; null while nobody has said so. */
  notice: { endsAt: Date } | null;
}

/** Machines of a room are at 127.1.0.1 and above: local nodes are below. */
const FIRST_ADDRESS = 0x7f010001;

/**
 * Executes for real what machines boot by: each in a folder of its own, with a loopback address of its own and its own
 * service of metadata. Ends all its processes when it is stopped or terminated; they are found by their environment,
 * since a script may leave any process group. Left out: kernels, disks and systemd.
 */
export class MachineRoom {
  readonly folder = mkdtempSync(join(tmpdir(), 'machine-room-'));
  private readonly running = new Map<string, Running>();
  private readonly addresses = new Map<string, string>();
  /** Ports of the services of metadata: what was written down at the first boot holds at the next one. */
  private readonly ports = new Map<string, number>();
  private work: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | null = null;

  constructor(private readonly options: MachineRoomOptions) {}

  /** Follows the provider from now on. */
  open(everyMs = 200): this {
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.follow()).catch((error: Error) => void (this.failure ??= error));
    }, everyMs);
    return this;
  }

  /** Ends everything; throws what went wrong meanwhile. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.work;
    for (const id of [...this.running.keys()]) await this.end(id);
    rmSync(this.folder, { recursive: true, force: true });
    if (this.failure) throw this.failure;
  }

  /** Does what the provider has done since. */
  async follow(): Promise<void> {
    const machines = await this.options.list();
    const there = new Map(machines.map((machine) => [machine.id, machine]));
    for (const [id, { boots }] of [...this.running]) {
      const machine = there.get(id);
      if (machine?.state !== 'running' || machine.boots !== boots) await this.end(id);
    }
    for (const id of [...this.addresses.keys()]) if (!there.has(id)) this.remove(id);
    for (const machine of machines)
      if (machine.state === 'running' && !this.running.has(machine.id)) await this.boot(machine);
  }

  /** Where the disk of a machine is. */
  rootOf(id: string): string {
    return join(this.folder, id.replaceAll(/[^\w.-]/g, '_'));
  }

  /** Address of a machine that has booted. */
  addressOf(id: string): string | undefined {
    return this.addresses.get(id);
  }

  /** Has the machine's metadata say that its provider takes it back. */
  announce(id: string, endsAt: Date): void {
    const machine = this.running.get(id);
    if (!machine) throw new Error(`There is no running machine ${id}.`);
    machine.notice = { endsAt };
  }

  private async boot({ id, boots, userData }: RoomMachine): Promise<void> {
    const root = this.rootOf(id);
    const isFirst = !existsSync(root);
    if (isFirst) {
      mkdirSync(join(root, 'runtime'), { recursive: true });
      this.options.image?.(root);
      this.addresses.set(id, this.nextAddress());
    }
    const address = this.addresses.get(id) ?? '127.0.0.1';
    const machine: Running = { boots, address, notice: null, metadata: createServer() };
    machine.metadata.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const { status, text } = metadataOf(id, machine.notice, request);
      response.writeHead(status).end(text);
    });
    await new Promise<void>((resolve) => machine.metadata.listen(this.ports.get(id) ?? 0, address, resolve));
    this.running.set(id, machine);
    const script = join(root, 'user-data');
    writeFileSync(script, userData, { mode: 0o600 });
    // What systemd would start at later boots.
    const command = isFirst || this.options.scriptAtEachBoot ? ['/bin/sh', script] : [join(root, 'run-agent')];
    const log = openSync(join(root, 'console.log'), 'a');
    const { port } = machine.metadata.address() as AddressInfo;
    this.ports.set(id, port);
    const [program = '', ...words] = command;
    const child = spawn(program, words, {
      cwd: root,
      detached: true,
      stdio: ['ignore', log, log],
      env: {
        PATH: process.env['PATH'],
        PLATFORM_ROOT: root,
        PLATFORM_ADDRESS: address,
        PLATFORM_METADATA_URL: `http://${address}:${port}`,
        PLATFORM_SYSTEMD: 'no',
        // Nor are its disks.
        PLATFORM_DISKS: 'no',
        // This machine's list of users is not that of the room.
        PLATFORM_UIDS: '',
        [NODE_MARK]: root,
      },
    });
    child.once('error', (error) => void (this.failure ??= error));
    child.unref();
    closeSync(log);
  }

  /** Pulls the plug; the disk stays. */
  private async end(id: string): Promise<void> {
    const root = this.rootOf(id);
    await eventually(() => {
      const left = markedProcesses((dir) => dir === root || dir.startsWith(`${root}/`));
      for (const { pid } of left) signal(pid, 'SIGKILL');
      return left.length === 0;
    });
    const metadata = this.running.get(id)?.metadata;
    metadata?.closeAllConnections();
    metadata?.close();
    this.running.delete(id);
    // The process that it names is another one's by the next boot.
    rmSync(join(root, 'run-agent.pid'), { force: true });
  }

  private remove(id: string): void {
    rmSync(this.rootOf(id), { recursive: true, force: true });
    this.addresses.delete(id);
    this.ports.delete(id);
  }

  private nextAddress(): string {
    const taken = new Set(this.addresses.values());
    for (let number = FIRST_ADDRESS; ; number += 1) {
      const address = [24, 16, 8, 0].map((bits) => (number >>> bits) & 0xff).join('.');
      if (!taken.has(address)) return address;
    }
  }
}

/** What the services of metadata of AWS, Google and Azure answer of a machine that may be taken back. */
function metadataOf(
  id: string,
  notice: Running['notice'],
  { method = 'GET', url = '' }: IncomingMessage,
): { status: number; text: string } {
  const [path = ''] = url.split('?', 1);
  const time = notice?.endsAt.toISOString();
  switch (`${method} ${path}`) {
    case 'PUT /latest/api/token':
      return { status: 200, text: 'token' };
    case 'GET /latest/meta-data/spot/instance-action':
      return notice ? { status: 200, text: JSON.stringify({ action: 'terminate', time }) } : { status: 404, text: '' };
    case 'GET /computeMetadata/v1/instance/preempted':
      return { status: 200, text: notice ? 'TRUE' : 'FALSE' };
    case 'GET /metadata/scheduledevents': {
      const events = notice ? [{ EventType: 'Preempt', Resources: [id], NotBefore: notice.endsAt.toUTCString() }] : [];
      return { status: 200, text: JSON.stringify({ Events: events }) };
    }
    case 'GET /metadata/instance/compute/name':
      return { status: 200, text: id };
    default:
      return { status: 404, text: '' };
  }
}
