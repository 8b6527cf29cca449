import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { assertAnswer, type AzureKind, unknownInRequest } from './fake-azure-schema';
import { bodyOf } from '../http/loopback-server';
import { type ServerIdentity, selfSigned } from '../http/self-signed';

type Json = Record<string, unknown>;

interface Resource {
  kind: AzureKind;
  id: string;
  name: string;
  /** Body as it was sent. */
  body: Json & { tags?: Record<string, string>; properties: Json };
  /** `PowerState/…` of a machine; null for other resources. */
  power: string | null;
  failure: AzureFailure | null;
  customData: string;
}

export interface AzureFailure {
  code: string;
  message: string;
}

/** An injected fault of some requests. */
export interface AzureFault extends Partial<AzureFailure> {
  /** Matches `PUT /subscriptions/…`, without the query. */
  on: RegExp;
  /** Status of the response; null if the connection breaks instead. */
  status: number | null;
  /** True if the request succeeds although the response is a fault. */
  done?: boolean;
  headers?: Record<string, string>;
  /** Number of requests; 1 if absent. */
  times?: number;
}

/** A machine with the fields that a room needs to execute its custom data. */
export interface FakeAzureMachine {
  name: string;
  running: boolean;
  /** The decoded custom data. */
  customData: string;
  privateIp: string;
  tags: Record<string, string>;
}

/** Accepted credentials and existing resources. */
export const FAKE_AZURE = {
  credentials: {
    TENANT_ID: '11111111-2222-4333-8444-555555555555',
    CLIENT_ID: '22222222-3333-4444-8555-666666666666',
    CLIENT_SECRET: 'client~secret.of-the-principal',
    SUBSCRIPTION_ID: '33333333-4444-4555-8666-777777777777',
  },
  group: 'nodes',
  networkGroup: 'shared-network',
  network: 'vnet',
  subnet: 'workers',
  region: 'eastus',
  zone: 'eastus-1',
  type: 'Standard_D2s_v3',
  image: 'Canonical:ubuntu-24_04-lts:server:latest',
  securityGroup: 'spark-nodes',
} as const;

const TOKEN = 'token-of-the-principal';
const PROVIDERS: Record<string, AzureKind> = {
  'microsoft.compute/virtualmachines': 'virtualMachines',
  'microsoft.compute/disks': 'disks',
  'microsoft.network/networkinterfaces': 'networkInterfaces',
  'microsoft.network/publicipaddresses': 'publicIPAddresses',
};
const MAX_CUSTOM_DATA_BYTES = 65_535;

/** A response that ends a request. */
class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/**
 * A stand-in for Azure's resource manager and login over HTTPS. The models of `@azure/arm-compute` and the mappers of
 * `@azure/arm-network` check requests and the fake's own responses: a field that they do not know is refused. Everything else
 * follows the published descriptions of the REST API: error codes, references between resources, what is deleted with a
 * machine, states and their texts.
 */
export class FakeAzure {
  /** `PUT /subscriptions/…` in the order of arrival, without the query. */
  readonly calls: string[] = [];
  readonly faults: AzureFault[] = [];
  /** Accepted machines fail with this error; null for none. */
  failCreations: AzureFailure | null = null;
  failStarts: AzureFailure | null = null;
  /** Quota of machines. */
  maxMachines = Infinity;
  pageSize = 100;
  /** Milliseconds until an accepted request is done. */
  delayMs = 1;
  /** Actions of the principal, as its role names them. */
  permissions: { actions: string[]; notActions: string[] } = { actions: ['*'], notActions: [] };
  private readonly resources = new Map<string, Resource>();
  private readonly underWay = new Set<{ at: number; apply(): void }>();
  private override: RequestListener | null = null;
  private addresses = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
    /** PEM of the certificate to trust. */
    readonly ca: string,
  ) {}

  static async start(identity: ServerIdentity = selfSigned()): Promise<FakeAzure> {
    const server = createServer(identity, (request, response) => {
      fake.handle(request, response).catch((error: unknown) => {
        if (!response.headersSent) send(response, 500, { error: { code: 'FakeBroken', message: String(error) } });
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const fake = new FakeAzure(server, `https://127.0.0.1:${port}`, identity.cert);
    return fake;
  }

  /** Makes the listener answer every request; null restores Azure. */
  answerWith(listener: RequestListener | null): void {
    this.override = listener;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    // A client that is just connecting would keep its connection for seconds.
    const again = setInterval(() => this.server.closeAllConnections(), 20);
    await closed;
    clearInterval(again);
  }

  machines(): FakeAzureMachine[] {
    this.finishDue();
    return this.ofKind('virtualMachines').map((machine) => ({
      name: machine.name,
      running: machine.power === 'running',
      customData: Buffer.from(machine.customData, 'base64').toString(),
      privateIp: this.cardsOf(machine).map((card) => String(configuration(card)['privateIPAddress']))[0] ?? '',
      tags: machine.body.tags ?? {},
    }));
  }

  /** Returns the names of the existing resources. */
  names(kind: AzureKind): string[] {
    this.finishDue();
    return this.ofKind(kind)
      .map(({ name }) => name)
      .sort();
  }

  /** Returns the body of the request that created a resource. */
  bodyOf(kind: AzureKind, name: string): Json | undefined {
    return this.ofKind(kind).find((one) => one.name === name)?.body;
  }

  /** Takes a spot machine back according to its eviction policy. */
  evict(name: string): void {
    this.finishDue();
    const machine = this.ofKind('virtualMachines').find((one) => one.name === name);
    if (machine?.body.properties['priority'] !== 'Spot') throw new Error(`${name} is not a spot machine`);
    if (machine.body.properties['evictionPolicy'] === 'Delete') this.remove(machine);
    else machine.power = 'deallocated';
  }

  /** Creates a resource without a request. */
  put(kind: AzureKind, name: string, tags: Record<string, string>, properties: Json = {}): void {
    const [provider] = Object.entries(PROVIDERS).find(([, one]) => one === kind) ?? [''];
    const id = `/subscriptions/${FAKE_AZURE.credentials.SUBSCRIPTION_ID}/resourceGroups/${FAKE_AZURE.group}/providers/${provider}/${name}`;
    const isMachine = kind === 'virtualMachines';
    const timed = isTimed(kind) ? { timeCreated: new Date(0).toISOString() } : {};
    this.resources.set(id.toLowerCase(), {
      ...{ kind, id, name, power: isMachine ? 'running' : null, failure: null, customData: '' },
      body: {
        location: FAKE_AZURE.region,
        tags,
        properties: { provisioningState: 'Succeeded', ...timed, ...properties },
      },
    });
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const text = await bodyOf(request);
    const { pathname, searchParams } = new URL(url, this.url);
    const path = decodeURIComponent(pathname);
    const call = `${method} ${path}`;
    this.calls.push(call);
    if (this.override) return void this.override(request, response);
    this.finishDue();
    const fault = this.faults.find(({ on }) => on.test(call));
    if (fault) {
      fault.times = (fault.times ?? 1) - 1;
      if (fault.times <= 0) this.faults.splice(this.faults.indexOf(fault), 1);
      if (fault.done) this.answer(request, path, searchParams, text);
      if (fault.status === null) return void response.destroy();
      const { code = 'Fault', message = 'Something is wrong.', headers = {} } = fault;
      return send(response, fault.status, { error: { code, message } }, headers);
    }
    const { status, body } = this.answer(request, path, searchParams, text);
    // The driver must not call the polling URLs of operations.
    const watch: Record<string, string> =
      status === 202 || status === 201 ? { 'Azure-AsyncOperation': `${this.url}/operations/${randomUUID()}` } : {};
    return send(response, status, body, watch);
  }

  private answer(
    request: IncomingMessage,
    path: string,
    query: URLSearchParams,
    text: string,
  ): { status: number; body: Json | null } {
    try {
      if (/^\/[^/]+\/v2\.0\/\.well-known\//.test(path)) return { status: 200, body: this.discovery(path) };
      if (/^\/[^/]+\/oauth2\/v2\.0\/token$/.test(path)) return this.login(path, new URLSearchParams(text));
      if (request.headers.authorization !== `Bearer ${TOKEN}`)
        throw new Refusal(401, 'InvalidAuthenticationToken', 'The access token is invalid.');
      if (!/^\d{4}-\d{2}-\d{2}(-preview)?$/.test(query.get('api-version') ?? ''))
        throw new Refusal(
          400,
          'MissingApiVersionParameter',
          'The api-version query parameter (?api-version=) is required.',
        );
      return this.manage(request, path, query, text);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, code, message } = error;
      if (path.endsWith('/token')) return { status, body: { error: code, error_description: message } };
      return { status, body: { error: { code, message } } };
    }
  }

  private discovery(path: string): Json {
    const [, tenant] = path.split('/');
    const base = `${this.url}/${tenant}`;
    return {
      token_endpoint: `${base}/oauth2/v2.0/token`,
      authorization_endpoint: `${base}/oauth2/v2.0/authorize`,
      issuer: `${base}/v2.0`,
      jwks_uri: `${base}/discovery/v2.0/keys`,
    };
  }

  private login(path: string, form: URLSearchParams): { status: number; body: Json } {
    const { TENANT_ID, CLIENT_ID, CLIENT_SECRET } = FAKE_AZURE.credentials;
    if (!path.startsWith(`/${TENANT_ID}/`))
      throw new Refusal(
        400,
        'invalid_request',
        'AADSTS90002: Tenant not found. Check to make sure you have the correct tenant ID.',
      );
    if (form.get('client_id') !== CLIENT_ID)
      throw new Refusal(400, 'unauthorized_client', 'AADSTS700016: Application was not found in the directory.');
    if (form.get('client_secret') !== CLIENT_SECRET)
      throw new Refusal(
        401,
        'invalid_client',
        `AADSTS7000215: Invalid client secret provided: ${form.get('client_secret')}`,
      );
    return { status: 200, body: { token_type: 'Bearer', expires_in: 3599, ext_expires_in: 3599, access_token: TOKEN } };
  }

  private manage(
    { method, headers }: IncomingMessage,
    path: string,
    query: URLSearchParams,
    text: string,
  ): { status: number; body: Json | null } {
    const [, subscription, group, rest = ''] =
      /^\/subscriptions\/([^/]+)(?:\/resourceGroups\/([^/]+))?\/providers\/(.+)$/i.exec(path) ?? [];
    if (subscription !== FAKE_AZURE.credentials.SUBSCRIPTION_ID)
      throw new Refusal(404, 'SubscriptionNotFound', `The subscription '${subscription}' could not be found.`);
    if (/^Microsoft\.Authorization\/permissions$/i.test(rest))
      return { status: 200, body: { value: [{ ...this.permissions, dataActions: [], notDataActions: [] }] } };
    if (group?.toLowerCase() !== FAKE_AZURE.group)
      throw new Refusal(404, 'ResourceGroupNotFound', `Resource group '${group}' could not be found.`);
    const [namespace = '', type = '', name, action] = rest.split('/');
    const kind = PROVIDERS[`${namespace}/${type}`.toLowerCase()];
    if (!kind) throw new Refusal(404, 'InvalidResourceType', `The resource type '${rest}' could not be found.`);
    if (name === undefined) return { status: 200, body: this.page(kind, query, path) };
    const id = `/subscriptions/${subscription}/resourceGroups/${group}/providers/${namespace}/${type}/${name}`;
    const existing = this.resources.get(id.toLowerCase());
    if (method === 'PUT') {
      if (existing && headers['if-none-match'] === '*')
        throw new Refusal(412, 'PreconditionFailed', 'The precondition If-None-Match is not met.');
      return this.create({ kind, id, name }, JSON.parse(text) as Json, existing);
    }
    return this.withExisting(method, existing, action, `${type}/${name}`, query);
  }

  private withExisting(
    method: string | undefined,
    existing: Resource | undefined,
    action: string | undefined,
    name: string,
    query: URLSearchParams,
  ): { status: number; body: Json | null } {
    if (method === 'DELETE') return this.deletion(existing);
    if (!existing) throw new Refusal(404, 'ResourceNotFound', `The Resource '${name}' was not found.`);
    if (method === 'POST') return this.act(existing, action);
    return { status: 200, body: this.wire(existing, query.has('$expand')) };
  }

  private page(kind: AzureKind, query: URLSearchParams, path: string): Json {
    const all = this.ofKind(kind);
    const from = Number(query.get('$skiptoken') ?? 0);
    const value = all.slice(from, from + this.pageSize).map((one) => this.wire(one, false));
    const next = from + this.pageSize;
    const link = `${this.url}${path}?api-version=${query.get('api-version')}&$skiptoken=${next}`;
    return next < all.length ? { value, nextLink: link } : { value };
  }

  private create(
    named: Pick<Resource, 'kind' | 'id' | 'name'>,
    body: Json,
    existing: Resource | undefined,
  ): { status: number; body: Json } {
    const { kind, id, name } = named;
    const tags = checkedTags(kind, body);
    if (existing?.body.properties['provisioningState'] === 'Deleting')
      throw new Refusal(409, 'ResourceIsBeingDeleted', `The resource ${name} is being deleted.`);
    const properties = { ...((body['properties'] ?? {}) as Json) };
    const { power = null, customData = '' } = existing ?? {};
    const resource: Resource = { ...named, power, failure: null, customData, body: { ...body, tags, properties } };
    if (kind === 'virtualMachines') this.admitMachine(resource);
    else properties['provisioningState'] = 'Succeeded';
    if (kind === 'networkInterfaces') this.admitCard(resource, existing);
    if (kind === 'publicIPAddresses') properties['ipAddress'] = `203.0.113.${(this.addresses += 1) % 250}`;
    if (isTimed(kind)) properties['timeCreated'] = new Date().toISOString();
    this.resources.set(id.toLowerCase(), resource);
    return { status: existing ? 200 : 201, body: this.wire(resource, false) };
  }

  private admitCard({ body: { properties }, id }: Resource, existing?: Resource): void {
    const { network, subnet, networkGroup, securityGroup } = FAKE_AZURE;
    const ip = configurationOf(properties);
    const { id: subnetId = '' } = ip['subnet'] as { id?: string };
    if (
      !subnetId.endsWith(
        `/resourceGroups/${networkGroup}/providers/Microsoft.Network/virtualNetworks/${network}/subnets/${subnet}`,
      )
    )
      throw bad('InvalidResourceReference', `Resource ${subnetId} referenced by resource ${id} was not found.`);
    for (const { id: group = '' } of (ip['applicationSecurityGroups'] ?? []) as { id?: string }[])
      if (!group.endsWith(`/applicationSecurityGroups/${securityGroup}`))
        throw bad('InvalidResourceReference', `Resource ${group} referenced by resource ${id} was not found.`);
    const { id: address } = (ip['publicIPAddress'] ?? {}) as { id?: string };
    if (address !== undefined && !this.resources.has(address.toLowerCase()))
      throw bad('InvalidResourceReference', `Resource ${address} referenced by resource ${id} was not found.`);
    const kept = existing && configuration(existing)['privateIPAddress'];
    this.addresses += 1;
    ip['privateIPAddress'] = kept ?? `10.0.${(this.addresses >> 8) % 256}.${this.addresses % 256}`;
  }

  private admitMachine(machine: Resource): void {
    const { properties } = machine.body;
    const { vmSize } = (properties['hardwareProfile'] ?? {}) as { vmSize?: string };
    if (vmSize !== FAKE_AZURE.type)
      throw bad('InvalidParameter', `The value ${vmSize} provided for the VM size is not valid.`);
    if (this.ofKind('virtualMachines').length >= this.maxMachines) {
      const words = 'Operation could not be completed as it results in exceeding approved Total Regional Cores quota.';
      throw new Refusal(409, 'OperationNotAllowed', `${words} Location: ${FAKE_AZURE.region}, Current Limit: 0.`);
    }
    const storage = (properties['storageProfile'] ?? {}) as {
      imageReference?: Json;
      osDisk?: Json;
      dataDisks?: Json[];
    };
    assertImage((storage.imageReference ?? {}) as Record<string, string>);
    this.admitSystem(machine);
    const [{ id: card = '' } = {}] = ((properties['networkProfile'] as Json)['networkInterfaces'] ?? []) as {
      id?: string;
    }[];
    if (!this.resources.has(card.toLowerCase()))
      throw bad('InvalidResourceReference', `Resource ${card} referenced by resource ${machine.id} was not found.`);
    for (const disk of [storage.osDisk ?? {}, ...(storage.dataDisks ?? [])]) this.attach(machine, disk);
    properties['vmId'] = randomUUID();
    properties['provisioningState'] = 'Creating';
    const failure = this.failCreations;
    this.later(() => {
      machine.failure = failure;
      machine.body.properties['provisioningState'] = failure ? 'Failed' : 'Succeeded';
      machine.power = failure ? null : 'running';
    });
  }

  private admitSystem(machine: Resource): void {
    const system = { ...((machine.body.properties['osProfile'] ?? {}) as Json) };
    const { linuxConfiguration: linux = {} } = system as { linuxConfiguration?: Json };
    const { publicKeys = [] } = (linux['ssh'] ?? {}) as { publicKeys?: { keyData?: string }[] };
    const hasKey = publicKeys.some(({ keyData = '' }) => /^ssh-(rsa|ed25519) [A-Za-z0-9+/]+=* ?/.test(keyData));
    if (linux['disablePasswordAuthentication'] !== true || !hasKey)
      throw bad('InvalidParameter', 'Authentication using either SSH or by user name and password must be enabled.');
    if (String(system['computerName']).length > 64) throw bad('InvalidParameter', 'The computer name is too long.');
    const { customData = '' } = system as { customData?: string };
    if (Buffer.from(customData, 'base64').length > MAX_CUSTOM_DATA_BYTES)
      throw bad(
        'InvalidParameter',
        'Custom data in OSProfile must be in Base64 encoding and with a maximum length of 87380 characters.',
      );
    machine.customData = customData;
    // Azure never returns it.
    delete system['customData'];
    machine.body.properties['osProfile'] = system;
  }

  /** Attaches a disk. A disk that does not exist is created with the machine, and has its tags. */
  private attach(machine: Resource, disk: Json): void {
    const { id } = (disk['managedDisk'] ?? {}) as { id?: string };
    if (disk['createOption'] === 'Attach') {
      if (id === undefined || !this.resources.has(id.toLowerCase()))
        throw bad('InvalidResourceReference', `Disk ${id} is not found.`);
      return;
    }
    const base = machine.id.replace(/virtualMachines\/[^/]+$/i, '');
    const name = String(disk['name']);
    this.resources.set(`${base}disks/${name}`.toLowerCase(), {
      ...{ kind: 'disks', id: `${base}disks/${name}`, name, power: null, failure: null, customData: '' },
      body: {
        location: FAKE_AZURE.region,
        tags: machine.body.tags ?? {},
        properties: { provisioningState: 'Succeeded', timeCreated: new Date().toISOString() },
      },
    });
  }

  private deletion(existing: Resource | undefined): { status: number; body: null } {
    if (!existing) return { status: 204, body: null };
    if (existing.kind === 'publicIPAddresses') {
      const holder = this.ofKind('networkInterfaces').find((card) => addressIdOf(card) === existing.id.toLowerCase());
      if (holder)
        throw bad(
          'PublicIPAddressCannotBeDeleted',
          `Public IP address ${existing.id} can not be deleted since it is still allocated to resource ${holder.id}.`,
        );
    }
    if (
      existing.kind === 'networkInterfaces' &&
      this.ofKind('virtualMachines').some((one) => this.cardsOf(one).includes(existing))
    )
      throw bad('NicInUse', `Network Interface ${existing.id} is used by existing resource.`);
    existing.body.properties['provisioningState'] = 'Deleting';
    this.later(() => this.remove(existing));
    return { status: 202, body: null };
  }

  /** Removes a resource with the resources that are deleted with it. */
  private remove(resource: Resource): void {
    this.resources.delete(resource.id.toLowerCase());
    if (resource.kind === 'networkInterfaces') {
      const { deleteOption } = (configuration(resource)['publicIPAddress'] ?? {}) as { deleteOption?: string };
      if (deleteOption === 'Delete') this.resources.delete(addressIdOf(resource) ?? '');
    }
    if (resource.kind === 'virtualMachines') this.removeParts(resource);
  }

  private removeParts(machine: Resource): void {
    const { storageProfile = {}, networkProfile = {} } = machine.body.properties as {
      storageProfile?: { osDisk?: Json; dataDisks?: Json[] };
      networkProfile?: { networkInterfaces?: (Json & { properties?: Json })[] };
    };
    const base = machine.id.replace(/virtualMachines\/[^/]+$/i, '');
    for (const disk of [storageProfile.osDisk ?? {}, ...(storageProfile.dataDisks ?? [])]) {
      const { id = `${base}disks/${String(disk['name'])}` } = (disk['managedDisk'] ?? {}) as { id?: string };
      if (disk['deleteOption'] === 'Delete') this.resources.delete(id.toLowerCase());
    }
    for (const { id, properties } of networkProfile.networkInterfaces ?? []) {
      const found = this.resources.get(String(id).toLowerCase());
      if (found && properties?.['deleteOption'] === 'Delete') this.remove(found);
    }
  }

  private act(machine: Resource, action: string | undefined): { status: number; body: null } {
    const { properties } = machine.body;
    if (properties['provisioningState'] === 'Deleting')
      throw new Refusal(
        409,
        'OperationNotAllowed',
        `Operation '${action}' is not allowed on VM since it is marked for deletion.`,
      );
    if (action === 'deallocate') {
      machine.power = 'deallocating';
      this.later(() => (machine.power = 'deallocated'));
      return { status: 202, body: null };
    }
    if (action !== 'start') throw new Refusal(404, 'NotFound', 'No such action.');
    machine.power = 'starting';
    const failure = this.failStarts;
    this.later(() => {
      machine.failure = failure;
      properties['provisioningState'] = failure ? 'Failed' : 'Succeeded';
      machine.power = failure ? 'deallocated' : 'running';
    });
    return { status: 202, body: null };
  }

  private wire({ kind, id, name, body, power, failure }: Resource, expanded: boolean): Json {
    const { properties } = body;
    const state = String(properties['provisioningState']);
    const provisioning = failure
      ? {
          code: `ProvisioningState/failed/${failure.code}`,
          level: 'Error',
          displayStatus: state,
          message: failure.message,
        }
      : { code: `ProvisioningState/${state.toLowerCase()}`, level: 'Info', displayStatus: state };
    const statuses = power === null ? [provisioning] : [provisioning, { code: `PowerState/${power}`, level: 'Info' }];
    const view = kind === 'virtualMachines' && expanded ? { instanceView: { statuses } } : {};
    const shown = kind === 'networkInterfaces' && expanded ? this.withAddress(properties) : properties;
    const wire = { ...body, id, name, properties: { ...shown, ...view } };
    assertAnswer(kind, wire);
    return wire;
  }

  private withAddress(properties: Json): Json {
    const [first] = properties['ipConfigurations'] as (Json & { properties: Json })[];
    const { id } = (first?.properties['publicIPAddress'] ?? {}) as { id?: string };
    const address = id === undefined ? undefined : this.resources.get(id.toLowerCase());
    if (!first || !address) return properties;
    const publicIPAddress = { id, properties: { ipAddress: address.body.properties['ipAddress'] } };
    return { ...properties, ipConfigurations: [{ ...first, properties: { ...first.properties, publicIPAddress } }] };
  }

  private cardsOf({ body: { properties } }: Resource): Resource[] {
    const { networkInterfaces = [] } = (properties['networkProfile'] ?? {}) as {
      networkInterfaces?: { id?: string }[];
    };
    return networkInterfaces.flatMap(({ id = '' }) => this.resources.get(id.toLowerCase()) ?? []);
  }

  private ofKind(kind: AzureKind): Resource[] {
    return [...this.resources.values()].filter((one) => one.kind === kind);
  }

  private later(apply: () => void): void {
    this.underWay.add({ at: Date.now() + this.delayMs, apply });
  }

  private finishDue(): void {
    for (const one of this.underWay)
      if (one.at <= Date.now()) {
        this.underWay.delete(one);
        one.apply();
      }
  }
}

/** Returns the tags; refuses fields that the resource does not have. */
function checkedTags(kind: AzureKind, body: Json): Record<string, string> {
  const unknown = unknownInRequest(kind, body);
  if (unknown.length > 0) throw bad('InvalidRequestContent', `Could not find member ${unknown.join(', ')}.`);
  const tags = (body['tags'] ?? {}) as Record<string, string>;
  const names = Object.keys(tags);
  if (names.length > 50) throw bad('InvalidTags', 'The number of tags is larger than 50.');
  if (new Set(names.map((name) => name.toLowerCase())).size !== names.length)
    throw bad('InvalidTags', 'Tag names are not unique.');
  if (body['location'] !== FAKE_AZURE.region) throw bad('LocationNotAvailableForResourceType', 'No such location.');
  return tags;
}

function assertImage(reference: Readonly<Record<string, string>>): void {
  const { publisher, offer, sku, version, communityGalleryImageId, sharedGalleryImageId } = reference;
  const id = reference['id'] ?? communityGalleryImageId ?? sharedGalleryImageId;
  const image = id ?? [publisher, offer, sku, version].join(':');
  if (image === FAKE_AZURE.image || /\/images\/known/.test(image)) return;
  const code = id === undefined ? 'PlatformImageNotFound' : 'NotFound';
  throw new Refusal(404, code, `The platform image '${image}' is not available.`);
}

/** True if Azure reports the creation time of such a resource. */
function isTimed(kind: AzureKind): boolean {
  return kind === 'virtualMachines' || kind === 'disks';
}

function configurationOf(properties: Json): Json {
  const [first] = (properties['ipConfigurations'] ?? []) as { properties?: Json }[];
  return first?.properties ?? {};
}

function configuration({ body }: Resource): Json {
  return configurationOf(body.properties);
}

function addressIdOf(card: Resource): string | undefined {
  return ((configuration(card)['publicIPAddress'] ?? {}) as { id?: string }).id?.toLowerCase();
}

function bad(code: string, message: string): Refusal {
  return new Refusal(400, code, message);
}

function send(response: ServerResponse, status: number, body: Json | null, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
  response.end(body === null ? '' : JSON.stringify(body));
}
