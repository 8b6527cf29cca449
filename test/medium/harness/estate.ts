import type { TestAnswer } from './test-api';
import type { Caller, People } from './people';

/** Of the reference data. */
export const PROVIDER = { GCP: 0, AWS: 1, Azure: 2, OnPrem: 3, OCI: 4 };
export const DISK = { 'local-ssd': 2, gp2: 3, gp3: 4, io1: 5, 'local-lvm': 10 };
export const MACHINE = { 'e2-standard-2': 3, 'Onprem-S-4': 1486 };
export const ARCHITECTURE = { x86_64: 0, aarch64: 1 };
const CREDENTIAL = { OnPrem: 3 };
const SPARK = 5;

export const PATH = {
  volume_conf: '/machine/volume',
  network_conf: '/machine/network',
  boot_disk_image: '/machine/boot_disk_image',
  credentials_conf: '/credential_config',
  cloud_env: '/cluster/cloud/environment',
  cluster_conf: '/cluster/conf',
  cluster: '/cluster',
} as const;
export type Kind = keyof typeof PATH;

/** Ids of what an OnPrem cluster is made of. */
export interface Parts {
  volume_conf: number;
  network_conf: number;
  boot_disk_image: number;
  credentials_conf: number;
  cloud_env: number;
  cluster_conf: number;
}

/** Makes infrastructure of OnPrem through the API, as a caller who may do everything. */
export class Estate {
  constructor(
    private readonly people: People,
    readonly caller: Caller,
  ) {}

  /** A request that makes a record of the kind: the plainest one that is right, changed by `changes`. */
  body(kind: Kind, parts: Partial<Parts>, changes: object = {}): Record<string, unknown> {
    const name = this.people.unique(kind.replaceAll('_', '-'));
    return { name, ...this.plain(kind, parts), ...changes };
  }

  create(kind: Kind, parts: Partial<Parts>, changes: object = {}): Promise<TestAnswer> {
    return this.caller.call('POST', PATH[kind], this.body(kind, parts, changes));
  }

  async id(kind: Kind, parts: Partial<Parts>, changes: object = {}): Promise<number> {
    return madeId(kind, await this.create(kind, parts, changes));
  }

  update(kind: Kind, id: number, body: object): Promise<TestAnswer> {
    return this.caller.call('PUT', `${PATH[kind]}?${kind}_id=${id}`, body);
  }

  get(kind: Kind, id: number): Promise<TestAnswer> {
    return this.caller.call('GET', `${PATH[kind]}?${kind}_id=${id}`);
  }

  delete(kind: Kind, id: number): Promise<TestAnswer> {
    return this.caller.call('DELETE', `${PATH[kind]}?${kind}_id=${id}`);
  }

  /** One record of each kind, which refer to each other and that nothing else refers to. */
  async parts(): Promise<Parts> {
    const volume_conf = await this.id('volume_conf', {});
    const network_conf = await this.id('network_conf', {});
    const boot_disk_image = await this.id('boot_disk_image', {});
    const credentials_conf = await this.id('credentials_conf', {});
    const described = { volume_conf, network_conf, boot_disk_image, credentials_conf };
    const cloud_env = await this.id('cloud_env', described);
    const cluster_conf = await this.id('cluster_conf', described);
    return { ...described, cloud_env, cluster_conf };
  }

  private plain(kind: Kind, parts: Partial<Parts>): object {
    const provider = { cloud_provider_id: PROVIDER.OnPrem };
    switch (kind) {
      case 'volume_conf':
        return {
          encrypted: false,
          disk_type_id: DISK['local-lvm'],
          size: 100,
          machine_volume_num: 1,
          machine_volume_strip_num: 1,
        };
      case 'network_conf':
        return { ...provider, bridge: 'vmbr0', model: 'virtio' };
      case 'boot_disk_image':
        return {
          ...provider,
          linux_distro_id: 1,
          boot_disk_image: 'ubuntu',
          architecture_type_id: ARCHITECTURE.x86_64,
        };
      case 'credentials_conf':
        return {
          credential_type_id: CREDENTIAL.OnPrem,
          base64_encoded_credentials: encodedCredentials({ USERNAME: 'root@pam', PASSWORD: 'word' }),
        };
      case 'cloud_env':
        return {
          ...provider,
          endpoint: 'https://hypervisor.example:8006',
          network_conf_id: parts.network_conf,
          credential_config_id: parts.credentials_conf,
          boot_disk_image_id: parts.boot_disk_image,
        };
      case 'cluster_conf':
        return { machine_type_id: MACHINE['Onprem-S-4'], volume_conf_id: parts.volume_conf };
      case 'cluster':
        return {
          cloud_env_id: parts.cloud_env,
          cluster_conf_id: parts.cluster_conf,
          spark_infra_version_id: SPARK,
          cluster_type: 'PLATFORM',
          min_instances: 1,
          max_instances: 1,
          is_spot_instance: false,
          enable_public_ip: false,
        };
    }
  }
}

export function encodedCredentials(values: object): { encoded: string } {
  return { encoded: Buffer.from(JSON.stringify(values)).toString('base64') };
}

export function madeId(kind: Kind, { status, body }: TestAnswer): number {
  if (status !== 200) throw new Error(`Making a ${kind} answered ${status}: ${JSON.stringify(body)}`);
  return Number(body[`${kind}_id`]);
}
