import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { markedProcesses, NODE_MARK, signal } from '../../../libs/node-agent/processes';
import { eventually } from '../../harness/eventually';

/** A machine as a fake provider has it. */
export interface RoomMachine {
  id: string;
  state: 'running' | 'stopped';
  /** Number of boots, from 1. */
  boots: number;
  userData: string;
}

export interface MachineRoomOptions {
  /** Lists all machines. A missing machine has been terminated. */
  list(): Promise<readonly RoomMachine[]>;
  /** True if user data run at each boot, as at Google, and not only at the first. */
  scriptAtEachBoot?: boolean;
  /** Creates the content of the image below a machine's root, such as links to a prepared runtime. */
  image?(root: string): void;
}

interface Running {
  boots: number;
  address: string;
  metadata: Server;
  /** Announced time of the interruption; null if none is announced. */
  notice: { endsAt: Date } | null;
}

/** Machines have addresses from 127.1.0.1 on. Local nodes have lower ones. */
const FIRST_ADDRESS = 0x7f010001;

/**
 * Runs the boot scripts of machines for real. Each machine has its own folder, loopback address and metadata service. Its
 * processes end when it is stopped or terminated; they are found by their environment, because a script may leave its process
 * group. Kernels, disks and systemd are not simulated.
 */
export class MachineRoom {
  readonly folder = mkdtempSync(join(tmpdir(), 'machine-room-'));
  private readonly running = new Map<string, Running>();
  private readonly addresses = new Map<string, string>();
  /** Ports of the metadata services. They stay the same, because the first boot writes them to the machine. */
  private readonly ports = new Map<string, number>();
  private work: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | null = null;

  constructor(private readonly options: MachineRoomOptions) {}

  /** Starts to follow the provider. */
  open(everyMs = 200): this {
    this.timer = setInterval(() => {
      this.work = this.work.then(() => this.follow()).catch((error: Error) => void (this.failure ??= error));
    }, everyMs);
    return this;
  }

  /** Ends everything; throws the errors that occurred meanwhile. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.work;
    for (const id of [...this.running.keys()]) await this.end(id);
    rmSync(this.folder, { recursive: true, force: true });
    if (this.failure) throw this.failure;
  }

  /** Applies the changes at the provider. */
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

  /** Returns the folder that is the disk of a machine. */
  rootOf(id: string): string {
    return join(this.folder, id.replaceAll(/[^\w.-]/g, '_'));
  }

  /** Returns the address of a booted machine. */
  addressOf(id: string): string | undefined {
    return this.addresses.get(id);
  }

  /** Announces an interruption in the machine's metadata. */
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
    // systemd would start this at later boots.
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
        // Disks are not simulated either.
        PLATFORM_DISKS: 'no',
        // The script must not change the users of the machine that runs the tests.
        PLATFORM_UIDS: '',
        [NODE_MARK]: root,
      },
    });
    child.once('error', (error) => void (this.failure ??= error));
    child.unref();
    closeSync(log);
  }

  /** Kills all processes of the machine. The disk stays. */
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
    // Its process id may belong to another process at the next boot.
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

/** Responses of the metadata services of AWS, Google and Azure about interruptions. */
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
