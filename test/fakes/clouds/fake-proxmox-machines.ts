import { createHash, randomBytes } from 'node:crypto';

/** Response of the hypervisor: data, or a status and its reason phrase. */
export interface FakeAnswer {
  data?: unknown;
  status?: number;
  reason?: string;
}

type Options = Record<string, string>;

interface FakeMachine {
  vmid: number;
  node: string;
  config: Options;
  isRunning: boolean;
  isTemplate: boolean;
}

interface FakeTask {
  upid: string;
  node: string;
  type: string;
  id: string;
  starttime: number;
  endtime?: number;
  status?: string;
}

interface FakeVolume {
  node: string;
  volid: string;
  content: Buffer;
  ctime: number;
}

/** Duration of a task, milliseconds. */
const TASK_MS = 5;
const DISKS = /^scsi\d+$/;

/**
 * The machines of a {@link FakeProxmox}. It follows the API viewer of Proxmox VE 9 (paths, parameters, responses) and known error
 * messages: clones and starts as tasks, locks, digests of configurations, uploaded ISO images, and the guest agent.
 */
export class FakeProxmoxMachines {
  readonly bridges = ['vmbr0'];
  readonly storages = [
    { storage: 'local', content: 'iso,vztmpl,backup' },
    { storage: 'local-lvm', content: 'images,rootdir' },
  ];
  /** Errors by type of task; `config` is for changes of a configuration, which are no tasks. */
  readonly failing = new Map<string, string>();
  readonly machines = new Map<number, FakeMachine>();
  readonly volumes = new Map<string, FakeVolume>();
  private readonly tasks: FakeTask[] = [];
  private count = 0;

  constructor(nodes: readonly string[]) {
    const [node] = nodes;
    if (node === undefined) return;
    const config = {
      name: 'spark-template',
      scsi0: 'local-lvm:base-9000-disk-0,size=8G',
      ide2: 'local-lvm:vm-9000-cloudinit',
    };
    this.machines.set(9000, { vmid: 9000, node, config, isRunning: false, isTemplate: true });
  }

  /** Returns the running machines with the images that they boot, for a room of real processes. */
  running(): { vmid: number; name: string; seed: Buffer | null }[] {
    return [...this.machines.values()]
      .filter(({ isRunning }) => isRunning)
      .map(({ vmid, config }) => {
        const [volid = ''] = (config['ide2'] ?? '').split(',');
        return { vmid, name: config['name'] ?? '', seed: this.volumes.get(volid)?.content ?? null };
      });
  }

  answer(method: string, path: string, query: URLSearchParams, form: Options, file: Buffer | null): FakeAnswer | null {
    if (method === 'GET' && path === '/cluster/resources') return { data: [...this.machines.values()].map(listed) };
    const [, node = '', rest = ''] = /^\/nodes\/([^/]+)\/(.*)$/.exec(path) ?? [];
    if (method === 'GET' && rest === 'tasks') return { data: this.tasksOf(node, query) };
    if (method === 'GET' && rest === 'network')
      return { data: this.bridges.map((iface) => ({ iface, type: 'bridge' })) };
    if (rest.startsWith('storage')) return this.storage(method, node, rest, query, form, file);
    const [, id, action = ''] = /^qemu\/(\d+)(\/.*)?$/.exec(rest) ?? [];
    return id === undefined ? null : this.machine(method, node, Number(id), action, form);
  }

  private machine(method: string, node: string, vmid: number, action: string, form: Options): FakeAnswer | null {
    const machine = this.machines.get(vmid);
    if (!machine || machine.node !== node)
      return { status: 500, reason: `Configuration file 'nodes/${node}/qemu-server/${vmid}.conf' does not exist` };
    switch (`${method} ${action}`) {
      case 'GET /config':
        return { data: { ...machine.config, digest: digestOf(machine) } };
      case 'GET /status/current':
        return { data: { vmid, status: machine.isRunning ? 'running' : 'stopped', qmpstatus: 'running' } };
      case 'GET /agent/network-get-interfaces':
        return machine.isRunning
          ? { data: { result: cards(vmid) } }
          : { status: 500, reason: `VM ${vmid} is not running` };
      case 'PUT /config':
        return this.configure(machine, form);
      case 'POST /clone':
        return this.clone(machine, form);
      case 'POST /status/start':
        return this.task(machine, 'qmstart', () => this.boot(machine));
      case 'POST /status/shutdown':
        return this.task(machine, 'qmshutdown', () => void (machine.isRunning = false));
      case 'POST /status/stop':
        return this.task(machine, 'qmstop', () => void (machine.isRunning = false));
      case 'DELETE ':
        if (machine.isRunning) return { status: 500, reason: `VM ${vmid} is running - destroy failed` };
        return this.task(machine, 'qmdestroy', () => void this.machines.delete(vmid));
      default:
        return null;
    }
  }

  private boot(machine: FakeMachine): void {
    if (machine.isRunning) throw new Error(`VM ${machine.vmid} already running`);
    machine.isRunning = true;
  }

  private configure(machine: FakeMachine, { digest, delete: gone = '', ...options }: Options): FakeAnswer {
    if (digest !== undefined && digest !== digestOf(machine))
      return { status: 500, reason: 'detected modified configuration - file changed by other user? Try again.' };
    const why = this.failing.get('config');
    if (why !== undefined) return { status: 500, reason: why };
    if (machine.config['lock']) return { status: 500, reason: `VM is locked (${machine.config['lock']})` };
    for (const [key, value] of Object.entries(options)) {
      const [storage, gib] = value.split(',')[0]?.split(':') ?? [];
      const disk = `${storage}:vm-${machine.vmid}-disk-${++this.count},size=${gib}G`;
      // A replaced disk is kept as unused.
      if (DISKS.test(key) && machine.config[key]) machine.config[`unused${this.count}`] = machine.config[key];
      machine.config[key] = DISKS.test(key)
        ? disk
        : key === 'net0'
          ? value.replace(/^(\w+)/, '$1=BC:24:11:00:00:01')
          : value;
    }
    for (const key of gone.split(',')) delete machine.config[key];
    return { data: null };
  }

  private clone(template: FakeMachine, { newid = '', name = '', description = '', target }: Options): FakeAnswer {
    const vmid = Number(newid);
    if (this.machines.has(vmid))
      return { status: 500, reason: `unable to create VM ${vmid}: config file already exists` };
    const machine: FakeMachine = {
      ...{ vmid, node: target ?? template.node, isRunning: false, isTemplate: false },
      config: { lock: 'clone' },
    };
    this.machines.set(vmid, machine);
    return this.task(
      template,
      'qmclone',
      () => (machine.config = { ...template.config, name, description }),
      () => this.machines.delete(vmid),
    );
  }

  private storage(
    method: string,
    node: string,
    rest: string,
    query: URLSearchParams,
    form: Options,
    file: Buffer | null,
  ): FakeAnswer | null {
    const [, name, action = '', volid = ''] = rest.split('/').map(decodeURIComponent);
    if (name === undefined) {
      const wanted = query.get('content');
      return {
        data: this.storages
          .filter(({ content }) => !wanted || content.split(',').includes(wanted))
          .map((one) => ({ ...one, active: 1 })),
      };
    }
    if (method === 'POST' && action === 'upload' && file) {
      const id = `${name}:iso/${form['filename']}`;
      this.volumes.set(id, { node, volid: id, content: file, ctime: Math.floor(Date.now() / 1000) });
      return { data: `UPID:${node}:0000:0000:0000:imgcopy::root@pam:` };
    }
    if (method === 'GET')
      return { data: [...this.volumes.values()].map(({ volid: id, ctime }) => ({ volid: id, ctime })) };
    if (method !== 'DELETE') return null;
    return this.volumes.delete(volid) ? { data: null } : { status: 500, reason: `volume '${volid}' does not exist` };
  }

  private task({ node, vmid }: FakeMachine, type: string, work: () => void, undo?: () => void): FakeAnswer {
    const upid = `UPID:${node}:${randomBytes(4).toString('hex')}:00000000:00000000:${type}:${vmid}:root@pam:`;
    const task: FakeTask = { upid, node, type, id: `${vmid}`, starttime: Math.floor(Date.now() / 1000) };
    this.tasks.unshift(task);
    setTimeout(() => {
      try {
        const why = this.failing.get(type);
        if (why !== undefined) throw new Error(why);
        work();
        task.status = 'OK';
      } catch (error) {
        undo?.();
        task.status = (error as Error).message;
      }
      task.endtime = Math.floor(Date.now() / 1000);
    }, TASK_MS).unref();
    return { data: upid };
  }

  private tasksOf(node: string, query: URLSearchParams): FakeTask[] {
    const vmid = query.get('vmid');
    const [type, limit] = [query.get('typefilter'), Number(query.get('limit') ?? 50)];
    const [since, failedOnly] = [Number(query.get('since') ?? 0), query.get('errors') === '1'];
    return this.tasks
      .filter((one) => one.node === node && (vmid ?? one.id) === one.id && (type ?? one.type) === one.type)
      .filter(({ starttime }) => starttime >= since)
      .filter(({ endtime }) => query.get('source') !== 'active' || endtime === undefined)
      .filter(({ endtime, status }) => !failedOnly || (endtime !== undefined && status !== 'OK'))
      .slice(0, limit);
  }
}

function listed({ vmid, node, config, isRunning, isTemplate }: FakeMachine): object {
  const status = isRunning ? 'running' : 'stopped';
  return { id: `qemu/${vmid}`, type: 'qemu', vmid, node, status, name: config['name'], template: isTemplate ? 1 : 0 };
}

function digestOf({ config }: FakeMachine): string {
  return createHash('sha1').update(JSON.stringify(config)).digest('hex');
}

function cards(vmid: number): object[] {
  const address = (text: string) => ({ 'ip-address': text, 'ip-address-type': 'ipv4', prefix: 8 });
  return [
    { name: 'lo', 'ip-addresses': [address('127.0.0.1')] },
    { name: 'eth0', 'ip-addresses': [address(`10.0.${(vmid >> 8) % 256}.${vmid % 256}`)] },
  ];
}
