import { createHash, createVerify, type KeyObject, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../http/loopback-server';
import { OCI_MODELS } from './oci-models';
import { rsaPair } from '../../harness/rsa-pair';

type Fields = Record<string, unknown>;

/** A refusal by Oracle Cloud. */
export interface OciRefusalAnswer {
  status: number;
  code: string;
  message: string;
  headers?: Record<string, string>;
}

/**
 * An injected fault of a call: a refusal, no response (`hangs`), a connection that breaks before the work (`dropped`) or after
 * it (`lost`), or any other response.
 */
export type OciMishap = OciRefusalAnswer | 'hangs' | 'dropped' | 'lost' | { status: number; body: string };

export interface FakeOciOptions {
  /** Items of a page, whatever the request says. */
  pageSize?: number;
  /** Number of lists from which a new machine is missing. */
  hiddenLists?: number;
  /** Capacity in machines; unlimited if absent. */
  room?: number;
  /** Machines that the service limit allows; unlimited if absent. */
  limit?: number;
}

interface FakeInstance {
  fields: Fields & { id: string; displayName: string; lifecycleState: string; freeformTags: Record<string, string> };
  userData: string;
  vnic: Fields & { id: string };
  /** The number of lists until it appears. */
  hidden: number;
  launch: { token: string | null; digest: string };
}

interface FakeVolume {
  fields: Fields & { id: string; displayName: string; lifecycleState: string };
  /** The machine that it was created with; null for a separate volume. */
  instanceId: string | null;
  kind: 'volume' | 'bootVolume';
}

interface Call {
  operation: string;
  query: URLSearchParams;
  id: string;
  body: string;
  retryToken: string | null;
}

class Refused extends Error {
  constructor(readonly answer: OciRefusalAnswer) {
    super(answer.message);
  }
}

const VERSION = '/20160918';
const CLOCK_SKEW_MS = 5 * 60_000;
const MAX_PAGE = 1000;
const MAX_TAGS = 10;

/** Operations by method and path; the id in a path is `*`. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'GET /availabilityDomains': 'ListAvailabilityDomains',
  'GET /instances': 'ListInstances',
  'POST /instances': 'LaunchInstance',
  'PUT /instances/*': 'UpdateInstance',
  'POST /instances/*': 'InstanceAction',
  'DELETE /instances/*': 'TerminateInstance',
  'GET /vnicAttachments': 'ListVnicAttachments',
  'GET /vnics/*': 'GetVnic',
  'GET /vcns': 'ListVcns',
  'GET /subnets': 'ListSubnets',
  'GET /networkSecurityGroups': 'ListNetworkSecurityGroups',
  'GET /volumes': 'ListVolumes',
  'DELETE /volumes/*': 'DeleteVolume',
  'GET /bootVolumes': 'ListBootVolumes',
  'DELETE /bootVolumes/*': 'DeleteBootVolume',
  'GET /workRequests': 'ListWorkRequests',
  'GET /workRequests/*': 'ListWorkRequestErrors',
};

/** Model of fields with a general type, of which the fake accepts only one subtype. */
const KINDS: Readonly<Record<string, string>> = {
  InstanceSourceDetails: 'InstanceSourceViaImageDetails',
  LaunchAttachVolumeDetails: 'LaunchAttachParavirtualizedVolumeDetails',
  LaunchCreateVolumeDetails: 'LaunchCreateVolumeFromAttributes',
  PreemptionAction: 'TerminatePreemptionAction',
};

/**
 * A stand-in for the core and identity services of Oracle Cloud. Requests and its own responses are checked against the fields
 * of the published models (`oci-models.ts`). States, errors, retry tokens, pages and signatures follow Oracle's API reference and
 * its page on request signatures. Not verified with the real service: the effect of a retry token after a refused launch, how
 * long a terminated machine is listed, and whether its metadata can be changed. A machine changes its state with each lookup (a
 * list, or `running`).
 */
export class FakeOci {
  readonly tenancy = ocid('tenancy');
  readonly compartment = ocid('compartment');
  readonly image = ocid('image');
  readonly shapes: readonly string[] = ['VM.Standard2.1', 'VM.Standard.E4.Flex', 'VM.Standard.A1.Flex'];
  readonly vcn = this.named('Vcn', 'vcn', 'workspace', { cidrBlock: '10.0.0.0/16', cidrBlocks: ['10.0.0.0/16'] });
  readonly subnet = this.named('Subnet', 'subnet', 'nodes & more', {
    ...{ vcnId: this.vcn['id'], cidrBlock: '10.0.0.0/24', routeTableId: ocid('routetable') },
    ...{ virtualRouterIp: '10.0.0.1', virtualRouterMac: '00:00:00:00:00:01' },
  });
  readonly group = this.named('NetworkSecurityGroup', 'networksecuritygroup', 'spark', { vcnId: this.vcn['id'] });
  readonly zone = 'eu-frankfurt-1-ad-2';
  readonly region = 'eu-frankfurt-1';
  readonly calls: Call[] = [];
  /** Responses of the fake that violate the models. */
  readonly ownFaults: string[] = [];
  readonly instances = new Map<string, FakeInstance>();
  readonly volumes = new Map<string, FakeVolume>();
  /** Accepted machines fail with this error; null for none. */
  failLaunches: { code: string; message: string } | null = null;
  private readonly workRequests = new Map<string, { instanceId: string; error: Fields }>();
  private readonly mishaps = new Map<string, OciMishap[]>();
  private readonly user = ocid('user');
  private readonly keys = rsaPair();
  private server: LoopbackServer | null = null;

  private constructor(private readonly options: FakeOciOptions) {}

  static async start(options: FakeOciOptions = {}): Promise<FakeOci> {
    const fake = new FakeOci(options);
    fake.server = await serveOnLoopback((request, response) => void fake.answer(request, response));
    return fake;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  /** Credentials of the only user. */
  get credentials(): Record<string, string> {
    return {
      OCI_TENANCY_OCID: this.tenancy,
      OCI_USER_OCID: this.user,
      OCI_FINGERPRINT: fingerprint(this.keys.publicKey),
      OCI_PRIVATE_KEY: this.keys.privateKey,
      OCI_COMPARTMENT_OCID: this.compartment,
    };
  }

  async stop(): Promise<void> {
    await this.server?.stop();
  }

  /** Makes the next calls of an operation fail, one after the other. */
  fail(operation: string, ...mishaps: OciMishap[]): void {
    this.mishaps.set(operation, [...(this.mishaps.get(operation) ?? []), ...mishaps]);
  }

  called(operation: string): Call[] {
    return this.calls.filter((call) => call.operation === operation);
  }

  /** Returns, for a machine room, the running machines with their boot scripts. Time passes, as with a list. */
  running(): { id: string; userData: string }[] {
    this.passTime();
    return [...this.instances.values()]
      .filter(({ fields }) => fields.lifecycleState === 'RUNNING')
      .map(({ fields, userData }) => ({ id: fields.id, userData }));
  }

  /** Takes a preemptible machine back. A client of the API sees that it ends, but not the reason. */
  preempt(displayName: string): void {
    const found = [...this.instances.values()].find(({ fields }) => fields.displayName === displayName);
    if (!found?.fields['preemptibleInstanceConfig']) throw new Error(`${displayName} is not preemptible`);
    found.fields.lifecycleState = 'TERMINATING';
    this.release(found.fields.id, true);
  }

  /** Adds a volume without a request. */
  addVolume(displayName: string, kind: FakeVolume['kind'] = 'volume', createdAt = new Date()): FakeVolume {
    const volume = this.volume(displayName, kind, null, 50);
    volume.fields['timeCreated'] = createdAt.toISOString();
    return volume;
  }

  /** Adds a machine without a request. */
  addInstance(displayName: string, freeformTags: Record<string, string>, fields: Fields = {}): FakeInstance {
    const details = {
      availabilityDomain: 'Uocm:EU-FRANKFURT-1-AD-2',
      shape: 'VM.Standard2.1',
      displayName,
      freeformTags,
    };
    const made = this.instance({ ...details, metadata: {} }, null, '');
    Object.assign(made.fields, { lifecycleState: 'RUNNING', ...fields });
    made.hidden = 0;
    return made;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    const url = new URL(request.url ?? '', this.url);
    const [, collection = '', id = ''] = /^\/([^/]+)(?:\/(.+))?$/.exec(url.pathname.slice(VERSION.length)) ?? [];
    const operation = OPERATIONS[`${request.method} /${collection}${id === '' ? '' : '/*'}`] ?? 'unknown';
    const retryToken = (request.headers['opc-retry-token'] as string | undefined) ?? null;
    const call: Call = { operation, query: url.searchParams, id: decodeURIComponent(id), body, retryToken };
    this.calls.push(call);
    const mishap = this.mishaps.get(operation)?.shift();
    if (mishap === 'hangs') return;
    if (mishap === 'dropped') request.socket.destroy();
    else if (typeof mishap === 'object' && 'body' in mishap) send(response, mishap.status, mishap.body);
    else this.answerAsUsual(request, response, { url, call, mishap });
  }

  private answerAsUsual(
    request: IncomingMessage,
    response: ServerResponse,
    { url, call, mishap }: { url: URL; call: Call; mishap: OciRefusalAnswer | 'lost' | undefined },
  ): void {
    try {
      if (typeof mishap === 'object') throw new Refused(mishap);
      this.authenticate(request, url, call.body);
      const { answer, headers } = this.perform(call);
      if (mishap === 'lost') request.socket.destroy();
      else if (answer === null) send(response, 204, undefined);
      else send(response, 200, JSON.stringify(answer), headers);
    } catch (error) {
      if (!(error instanceof Refused)) this.ownFaults.push(String(error));
      const { status, code, message, headers } = error instanceof Refused ? error.answer : BROKEN;
      send(response, status, JSON.stringify({ code, message }), { 'opc-request-id': 'fake', ...headers });
    }
  }

  private authenticate(request: IncomingMessage, url: URL, body: string): void {
    const { tenancy, user, keys } = this;
    const keyId = `${tenancy}/${user}/${fingerprint(keys.publicKey)}`;
    if (isSigned(request, url, body, { keyId, publicKey: keys.publicKey })) return;
    throw new Refused({ status: 401, code: 'NotAuthenticated', message: DENIED });
  }

  private perform(call: Call): { answer: unknown; headers?: Record<string, string> } {
    switch (call.operation) {
      case 'ListAvailabilityDomains':
        return { answer: this.checked('AvailabilityDomain', this.availabilityDomains(call)) };
      case 'LaunchInstance':
        return { answer: this.checked('Instance', this.launch(call)) };
      case 'UpdateInstance':
        return { answer: this.checked('Instance', this.update(call)) };
      case 'InstanceAction':
        return { answer: this.checked('Instance', this.act(call)) };
      case 'TerminateInstance':
        return { answer: this.terminate(call) };
      case 'GetVnic':
        return { answer: this.checked('Vnic', this.vnic(call.id)) };
      case 'ListWorkRequestErrors':
        return { answer: this.checked('WorkRequestError', this.workRequestErrors(call.id)) };
      case 'DeleteVolume':
      case 'DeleteBootVolume':
        return { answer: this.removeVolume(call) };
      default:
        return this.list(call);
    }
  }

  private availabilityDomains({ query }: Call): Fields[] {
    if (query.get('compartmentId') !== this.tenancy) throw notFound();
    return [1, 2, 3].map((number) => ({
      ...{ name: `Uocm:EU-FRANKFURT-1-AD-${number}`, id: ocid('availabilitydomain'), compartmentId: this.tenancy },
    }));
  }

  private launch({ body, retryToken }: Call): Fields {
    const details = parsed(body, 'LaunchInstanceDetails');
    const digest = createHash('sha256').update(body).digest('hex');
    const before = [...this.instances.values()].find(
      ({ launch }) => retryToken !== null && launch.token === retryToken,
    );
    if (before) return this.repeated(before, digest);
    this.checkNames(details);
    this.checkSizes(details);
    const living = [...this.instances.values()].filter(({ fields }) => fields.lifecycleState !== 'TERMINATED').length;
    if (living >= (this.options.limit ?? Infinity))
      throw new Refused({ status: 400, code: 'LimitExceeded', message: LIMIT });
    if (living >= (this.options.room ?? Infinity))
      throw new Refused({ status: 500, code: 'InternalError', message: 'Out of host capacity.' });
    const made = this.instance(details, retryToken, digest);
    if (this.failLaunches) {
      made.fields.lifecycleState = 'TERMINATING';
      const error = { ...this.failLaunches, timestamp: new Date().toISOString() };
      this.workRequests.set(ocid('coreservicesworkrequest'), { instanceId: made.fields.id, error });
      return { ...made.fields, lifecycleState: 'PROVISIONING' };
    }
    this.volume(`${made.fields.displayName} (Boot Volume)`, 'bootVolume', made.fields.id, 47);
    for (const one of (details['launchVolumeAttachments'] ?? []) as Fields[]) {
      const { displayName, sizeInGBs } = one['launchCreateVolumeDetails'] as { displayName: string; sizeInGBs: number };
      this.volume(displayName, 'volume', made.fields.id, sizeInGBs);
    }
    return made.fields;
  }

  private workRequestErrors(id: string): Fields[] {
    const found = this.workRequests.get(id.replace(/\/errors$/, ''));
    if (!found) throw notFound();
    return [found.error];
  }

  private checkNames({ compartmentId, createVnicDetails, sourceDetails, availabilityDomain }: Fields): void {
    const { subnetId, nsgIds = [] } = (createVnicDetails ?? {}) as { subnetId?: string; nsgIds?: string[] };
    const known =
      compartmentId === this.compartment &&
      (sourceDetails as Fields | undefined)?.['imageId'] === this.image &&
      subnetId === this.subnet['id'] &&
      nsgIds.every((id) => id === this.group['id']) &&
      /^Uocm:EU-FRANKFURT-1-AD-[123]$/.test(String(availabilityDomain));
    if (!known) throw notFound();
  }

  private checkSizes({
    shape,
    shapeConfig,
    freeformTags = {},
    metadata = {},
    launchVolumeAttachments = [],
  }: Fields): void {
    if (!this.shapes.includes(String(shape))) throw invalidParameter(`Shape ${String(shape)} is not valid`);
    if (String(shape).endsWith('.Flex') && !shapeConfig) throw invalidParameter('shapeConfig is required');
    if (Object.keys(freeformTags as Fields).length > MAX_TAGS)
      throw invalidParameter(`More than ${MAX_TAGS} free-form tags`);
    if (JSON.stringify(metadata).length > 32_000) throw invalidParameter('Metadata too large');
    const sizes = (launchVolumeAttachments as Fields[]).map((one) => one['launchCreateVolumeDetails'] as Fields);
    if (sizes.some(({ sizeInGBs }) => Number(sizeInGBs) < 50)) throw invalidParameter('A volume has at least 50 GB');
  }

  private repeated({ fields, launch }: FakeInstance, digest: string): Fields {
    if (launch.digest !== digest) throw invalidParameter('The retry token was used with another request');
    if (['TERMINATING', 'TERMINATED'].includes(fields.lifecycleState))
      throw new Refused({ status: 409, code: 'InvalidatedRetryToken', message: 'The retry token is no longer valid.' });
    return fields;
  }

  private update({ id, body }: Call): Fields {
    const { fields } = this.found(id);
    return Object.assign(fields, parsed(body, 'UpdateInstanceDetails'));
  }

  private act({ id, query }: Call): Fields {
    const { fields } = this.found(id);
    const action = query.get('action');
    const [from, to] = action === 'START' ? ['STOPPED', 'STARTING'] : ['RUNNING', 'STOPPING'];
    if (action !== 'START' && fields['preemptibleInstanceConfig'])
      throw invalidParameter('A preemptible instance cannot stop');
    if (fields.lifecycleState !== from) throw incorrectState(`The instance is ${fields.lifecycleState}.`);
    fields.lifecycleState = to ?? '';
    return fields;
  }

  private terminate({ id, query }: Call): null {
    const { fields } = this.found(id);
    if (fields.lifecycleState === 'TERMINATED') throw notFound();
    if (fields.lifecycleState === 'TERMINATING') throw incorrectState('The instance is terminating.');
    fields.lifecycleState = 'TERMINATING';
    if (query.get('preserveBootVolume') !== 'true') this.release(id, false, 'bootVolume');
    if (query.get('preserveDataVolumesCreatedAtLaunch') === 'false') this.release(id, false, 'volume');
    return null;
  }

  /** Removes the volumes of a machine that ends, or leaves them. */
  private release(instanceId: string, preempted: boolean, kind?: FakeVolume['kind']): void {
    for (const volume of this.volumes.values()) {
      if (volume.instanceId !== instanceId || (kind !== undefined && volume.kind !== kind)) continue;
      volume.instanceId = null;
      if (!preempted || volume.kind === 'bootVolume') volume.fields.lifecycleState = 'TERMINATED';
    }
  }

  private removeVolume({ id }: Call): null {
    const volume = this.volumes.get(id);
    if (!volume || volume.fields.lifecycleState === 'TERMINATED') throw notFound();
    const { lifecycleState } = this.instances.get(volume.instanceId ?? '')?.fields ?? { lifecycleState: 'TERMINATED' };
    if (lifecycleState !== 'TERMINATED') throw incorrectState(`Volume ${id} is attached.`);
    volume.fields.lifecycleState = 'TERMINATED';
    return null;
  }

  private list(call: Call): { answer: unknown; headers?: Record<string, string> } {
    const { operation, query } = call;
    const compartmentId = query.get('compartmentId');
    if (compartmentId !== this.compartment) throw notFound();
    const [model, items] = this.listed(operation, query);
    const [displayName, vcnId] = [query.get('displayName'), query.get('vcnId')];
    const wanted = items.filter(
      (item) =>
        (displayName ?? item['displayName']) === item['displayName'] && (vcnId ?? item['vcnId']) === item['vcnId'],
    );
    // A page token is opaque and must be sent back unchanged.
    const begin = Number(/^from&(\d+)=/.exec(query.get('page') ?? 'from&0=')?.[1]);
    if (!Number.isSafeInteger(begin)) throw invalidParameter('Invalid page');
    const size = Math.min(Number(query.get('limit') ?? MAX_PAGE), this.options.pageSize ?? MAX_PAGE, MAX_PAGE);
    const more = begin + size < wanted.length;
    return {
      answer: this.checked(model, wanted.slice(begin, begin + size)),
      headers: more ? { 'opc-next-page': `from&${begin + size}=` } : {},
    };
  }

  private listed(operation: string, query: URLSearchParams): [string, Fields[]] {
    const fieldsOf = (kind: FakeVolume['kind']) =>
      [...this.volumes.values()].filter((volume) => volume.kind === kind).map(({ fields }) => fields);
    switch (operation) {
      case 'ListInstances':
        this.passTime();
        return [
          'Instance',
          [...this.instances.values()].filter(({ hidden }) => hidden < 0).map(({ fields }) => fields),
        ];
      case 'ListWorkRequests':
        return [
          'WorkRequestSummary',
          [...this.workRequests]
            .filter(([, { instanceId }]) => instanceId === query.get('resourceId'))
            .map(([id]) => ({
              ...{ id, operationType: 'LaunchInstance', status: 'FAILED', percentComplete: 100 },
              ...{ compartmentId: this.compartment, timeAccepted: new Date().toISOString() },
            })),
        ];
      case 'ListVnicAttachments':
        return ['VnicAttachment', this.attachments(query.get('instanceId'))];
      case 'ListVcns':
        return ['Vcn', [this.vcn]];
      case 'ListSubnets':
        return ['Subnet', [this.subnet]];
      case 'ListNetworkSecurityGroups':
        return ['NetworkSecurityGroup', [this.group]];
      case 'ListVolumes':
        return ['Volume', fieldsOf('volume')];
      case 'ListBootVolumes':
        return ['BootVolume', fieldsOf('bootVolume')];
      default:
        throw notFound();
    }
  }

  private attachments(instanceId: string | null): Fields[] {
    return [...this.instances.values()]
      .filter(({ fields }) => (instanceId ?? fields.id) === fields.id)
      .map(({ fields, vnic }) => ({
        ...{
          id: vnic['attachmentId'],
          availabilityDomain: fields['availabilityDomain'],
          timeCreated: fields['timeCreated'],
        },
        ...{ compartmentId: this.compartment, instanceId: fields.id, vnicId: vnic.id, subnetId: this.subnet['id'] },
        lifecycleState: fields.lifecycleState === 'TERMINATED' ? 'DETACHED' : 'ATTACHED',
      }));
  }

  private vnic(id: string): Fields {
    const found = [...this.instances.values()].find(({ vnic }) => vnic.id === id);
    if (!found || found.fields.lifecycleState === 'TERMINATED') throw notFound();
    const { attachmentId: _attachment, ...vnic }: Fields = found.vnic;
    return vnic;
  }

  private found(id: string): FakeInstance {
    const found = this.instances.get(id);
    if (!found) throw notFound();
    return found;
  }

  /** Time passes. */
  private passTime(): void {
    const next: Readonly<Record<string, string>> = {
      ...{ PROVISIONING: 'RUNNING', STARTING: 'RUNNING', STOPPING: 'STOPPED', TERMINATING: 'TERMINATED' },
    };
    for (const instance of this.instances.values()) {
      const { fields } = instance;
      instance.hidden -= 1;
      if (instance.hidden < 0) fields.lifecycleState = next[fields.lifecycleState] ?? fields.lifecycleState;
    }
  }

  private instance(details: Fields, token: string | null, digest: string): FakeInstance {
    const { availabilityDomain, shape, displayName, freeformTags = {}, preemptibleInstanceConfig } = details;
    const { metadata = {}, createVnicDetails } = details as {
      metadata?: Record<string, string>;
      createVnicDetails?: Fields;
    };
    const id = ocid('instance');
    const number = this.instances.size + 1;
    const made: FakeInstance = {
      fields: {
        ...{ id, availabilityDomain, shape, metadata, extendedMetadata: {}, region: this.region },
        ...{ compartmentId: this.compartment, lifecycleState: 'PROVISIONING', timeCreated: new Date().toISOString() },
        displayName: String(displayName),
        freeformTags: freeformTags as Record<string, string>,
        ...(preemptibleInstanceConfig ? { preemptibleInstanceConfig } : {}),
      },
      userData: Buffer.from(metadata['user_data'] ?? '', 'base64').toString(),
      vnic: {
        ...{ id: ocid('vnic'), attachmentId: ocid('vnicattachment'), availabilityDomain, isPrimary: true },
        ...{ compartmentId: this.compartment, lifecycleState: 'AVAILABLE', subnetId: this.subnet['id'] },
        ...{ privateIp: `10.0.${number >> 8}.${number & 255}`, timeCreated: new Date().toISOString() },
        ...(createVnicDetails?.['assignPublicIp'] ? { publicIp: '203.0.113.9' } : {}),
      },
      hidden: this.options.hiddenLists ?? 0,
      launch: { token, digest },
    };
    this.instances.set(id, made);
    return made;
  }

  private volume(displayName: string, kind: FakeVolume['kind'], instanceId: string | null, gib: number): FakeVolume {
    const id = ocid(kind.toLowerCase());
    const fields = {
      ...{ id, displayName, availabilityDomain: 'Uocm:EU-FRANKFURT-1-AD-2', compartmentId: this.compartment },
      ...{ lifecycleState: 'AVAILABLE', sizeInGBs: gib, sizeInMBs: gib * 1024, timeCreated: new Date().toISOString() },
    };
    const made: FakeVolume = { fields, instanceId, kind };
    this.volumes.set(id, made);
    return made;
  }

  private named(model: string, kind: string, displayName: string, fields: Fields): Fields {
    const common = { id: ocid(kind), compartmentId: this.compartment, displayName, lifecycleState: 'AVAILABLE' };
    const made = { ...common, timeCreated: new Date().toISOString(), ...fields };
    const wrong = misfits(made, model);
    if (wrong.length > 0) throw new Error(wrong.join(', '));
    return made;
  }

  /** Checks a response against the published models, because a test with invalid responses proves nothing. */
  private checked<T>(model: string, answer: T): T {
    for (const one of Array.isArray(answer) ? (answer as unknown[]) : [answer])
      this.ownFaults.push(...misfits(one, model));
    return answer;
  }
}

const BROKEN: OciRefusalAnswer = { status: 500, code: 'InternalError', message: 'The counterpart is broken.' };
const DENIED = 'The required information to complete authentication was not provided or was incorrect.';
const LIMIT = 'The following service limits were exceeded: standard-e4-core-count. Request a service limit increase.';

function send(
  response: ServerResponse,
  status: number,
  body: string | undefined,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers });
  response.end(body);
}

/** Draft-cavage HTTP signature with the headers that Oracle requires. */
function isSigned(
  { method = '', headers }: IncomingMessage,
  url: URL,
  body: string,
  by: { keyId: string; publicKey: KeyObject },
): boolean {
  const given = [...(headers.authorization ?? '').matchAll(/(\w+)="([^"]*)"/g)];
  const parts = new Map(given.map(([, name, value]) => [name, value ?? '']));
  if (parts.get('keyId') !== by.keyId || parts.get('algorithm') !== 'rsa-sha256') return false;
  // Header names are case-insensitive; the signing string has them in lower case.
  const signed = (parts.get('headers') ?? '').toLowerCase().split(' ');
  const withBody = method === 'POST' || method === 'PUT';
  const required = ['(request-target)', 'host', ...(withBody ? BODY_HEADERS : [])];
  if (!required.every((name) => signed.includes(name))) return false;
  if (withBody && headers['x-content-sha256'] !== createHash('sha256').update(body).digest('base64')) return false;
  if (!isRecent(signed, headers)) return false;
  const target = `${method.toLowerCase()} ${url.pathname}${url.search}`;
  const lines = signed.map((name) => `${name}: ${name === '(request-target)' ? target : String(headers[name])}`);
  const signature = Buffer.from(parts.get('signature') ?? '', 'base64');
  return createVerify('sha256').update(lines.join('\n')).verify(by.publicKey, signature);
}

function isRecent(signed: readonly string[], headers: IncomingMessage['headers']): boolean {
  const name = signed.find((one) => one === 'date' || one === 'x-date');
  return name !== undefined && Math.abs(Date.now() - Date.parse(String(headers[name]))) <= CLOCK_SKEW_MS;
}

const BODY_HEADERS = ['content-length', 'content-type', 'x-content-sha256'];

function notFound(): Refused {
  const message = 'Authorization failed or requested resource not found.';
  return new Refused({ status: 404, code: 'NotAuthorizedOrNotFound', message });
}

function invalidParameter(message: string): Refused {
  return new Refused({ status: 400, code: 'InvalidParameter', message });
}

function incorrectState(message: string): Refused {
  return new Refused({ status: 409, code: 'IncorrectState', message });
}

function parsed(body: string, model: string): Fields {
  const details = JSON.parse(body) as Fields;
  const [wrong] = misfits(details, model);
  if (wrong !== undefined) throw new Refused({ status: 400, code: 'CannotParseRequest', message: wrong });
  return details;
}

/** Returns the parts of a value that violate the model. */
function misfits(value: unknown, type: string, at = type): string[] {
  const [, item] = /^list\[(.+)\]$/.exec(type) ?? [];
  if (item !== undefined)
    return Array.isArray(value) ? value.flatMap((one) => misfits(one, item, `${at}[]`)) : [`${at} is no list`];
  const [, of] = /^dict\(str, (.+)\)$/.exec(type) ?? [];
  const fields = isFields(value) ? Object.entries(value).filter(([, one]) => one !== undefined) : null;
  if (of !== undefined)
    return fields ? fields.flatMap(([key, one]) => misfits(one, of, `${at}.${key}`)) : [`${at} is no map`];
  const basic = BASIC[type];
  if (basic) return basic(value) ? [] : [`${at} is no ${type}`];
  if (!fields) return [`${at} is no object`];
  const model = OCI_MODELS[KINDS[type] ?? type];
  if (!model) return [];
  return fields.flatMap(([key, one]) => {
    const fieldType = Object.hasOwn(model, key) ? model[key] : undefined;
    return fieldType === undefined ? [`${at} has no field ${key}`] : misfits(one, fieldType, `${at}.${key}`);
  });
}

const BASIC: Readonly<Record<string, (value: unknown) => boolean>> = {
  str: (value) => typeof value === 'string',
  bool: (value) => typeof value === 'boolean',
  int: Number.isSafeInteger,
  float: Number.isFinite,
  datetime: (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  object: () => true,
};

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function ocid(kind: string): string {
  return `ocid1.${kind}.oc1.eu-frankfurt-1.${randomBytes(20).toString('hex')}`;
}

function fingerprint(key: KeyObject): string {
  const digest = createHash('md5')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex');
  return (digest.match(/../g) ?? []).join(':');
}
