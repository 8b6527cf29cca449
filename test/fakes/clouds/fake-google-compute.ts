import { createHash, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { verify } from 'jsonwebtoken';
import { bodyOf, type LoopbackServer, serveOnLoopback } from '../http/loopback-server';
import { rsaPair } from '../../harness/rsa-pair';

interface Schema {
  type?: string;
  format?: string;
  enum?: string[];
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema;
}

interface Parameter extends Schema {
  location: 'path' | 'query';
  pattern?: string;
  required?: boolean;
}

interface Method {
  httpMethod: string;
  path: string;
  parameters: Record<string, Parameter>;
  request?: string;
  response: string;
}

interface Published {
  methods: Record<string, Method>;
  schemas: Record<string, Schema>;
}

type Json = Record<string, unknown>;

export interface FakeInstance {
  name: string;
  zone: string;
  status: string;
  labels: Record<string, string>;
  /** Number of boots. */
  boots: number;
  /** Script that runs at each boot. */
  startupScript: string;
  /** The request that created it. */
  request: Json;
}

interface Instance extends FakeInstance {
  created: string;
  started?: string;
  stopped?: string;
  shownFrom: number;
}

interface Operation {
  name: string;
  zone: string;
  type: string;
  target: string;
  doneAt: number;
  inserted: string;
  words?: string;
  error?: { code: string; message: string };
  finish?(): void;
}

interface Thing {
  kind: 'disks' | 'addresses';
  name: string;
  /** Zone or region. */
  where: string;
  labels: Record<string, string>;
  users: string[];
  created: string;
}

interface DiskParams {
  diskName?: string;
  sourceImage?: string;
  labels?: Record<string, string>;
}

interface Refusal {
  status: number;
  reason: string;
  message: string;
  retryAfter?: string;
}

/** A response that is an error. */
class Refused extends Error {
  constructor(readonly refusal: Refusal) {
    super(refusal.message);
  }
}

const PUBLISHED = JSON.parse(readFileSync(join(__dirname, 'google-compute-schema.json'), 'utf8')) as Published;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const SELF = 'https://www.googleapis.com/compute/v1';
const PERMISSIONS: Readonly<Record<string, string>> = { insert: 'create', aggregatedList: 'list' };

/**
 * A stand-in for Google Compute Engine. Paths, parameters, requests and responses are checked against Google's published schema
 * (`google-compute-schema.json`, which names its source). The behaviour follows the documentation of Compute Engine: operations
 * that end later and may fail, request ids, the life of instances, labels in filters, pages, and preemption. A response that
 * violates the schema is an error of the fake, which {@link stop} throws.
 */
export class FakeGoogleCompute {
  readonly project = 'own-project';
  readonly email = 'platform@own-project.iam.gserviceaccount.com';
  readonly privateKey: string;
  /** Method of each request, such as `compute.instances.insert`. */
  readonly calls: string[] = [];
  /** Names of existing zones. */
  readonly zones = new Set(['europe-west1-b', 'europe-west1-c', 'us-central1-a']);
  readonly machineTypes = new Set([
    'e2-standard-2',
    'n1-standard-4',
    'n2-standard-2',
    'g2-standard-4',
    'n4-standard-2',
  ]);
  readonly images = new Set(['projects/images/global/images/spark', 'projects/images/global/images/family/spark']);
  readonly subnets = new Set(['projects/host-project/regions/europe-west1/subnetworks/nodes']);
  /** Permissions that the account lacks, such as `compute.instances.create`. */
  readonly lacking = new Set<string>();
  /** Milliseconds until an operation is done. */
  operationMs = 0;
  /** Milliseconds until a new instance is listed. */
  hiddenMs = 0;
  /** Maximum instances per page. */
  pageSize = 500;
  private readonly publicKey: KeyObject;
  private readonly instances = new Map<string, Instance>();
  private readonly operations: Operation[] = [];
  private readonly things: Thing[] = [];
  private readonly requests = new Map<string, { operation: Operation; body: string }>();
  private readonly refusals: Refusal[] = [];
  private readonly failures: { type: string; code: string; message: string }[] = [];
  private readonly flaws: string[] = [];
  private lost = 0;
  private count = 0;
  private override: ((request: IncomingMessage, response: ServerResponse) => void) | null = null;

  private constructor(private readonly server: LoopbackServer) {
    const { privateKey, publicKey } = rsaPair();
    this.privateKey = privateKey;
    this.publicKey = publicKey;
  }

  static async start(port?: number): Promise<FakeGoogleCompute> {
    const server = await serveOnLoopback((request, response) => void fake.handle(request, response), port);
    const fake = new FakeGoogleCompute(server);
    return fake;
  }

  get url(): string {
    return this.server.url;
  }

  /** The fields of a service account's key file. */
  get credentials(): Record<string, string> {
    return {
      TYPE: 'service_account',
      PROJECT_ID: this.project,
      PRIVATE_KEY_ID: 'key-1',
      PRIVATE_KEY: this.privateKey,
      CLIENT_EMAIL: this.email,
      // Nothing listens there, because the token endpoint must not be called.
      TOKEN_URI: 'http://127.0.0.1:9/token',
    };
  }

  /** @throws Error that lists the violations of the schema */
  async stop(): Promise<void> {
    await this.server.stop();
    if (this.flaws.length > 0) throw new Error(this.flaws.join('\n'));
  }

  /** Returns the machines that booted at least once, with their scripts, for tests that execute a script at each boot. */
  machines(): { id: string; state: 'running' | 'stopped'; boots: number; userData: string }[] {
    const up = this.all().filter(({ boots }) => boots > 0);
    return up.map(({ name: id, status, boots, startupScript: userData }) => {
      return { id, state: status === 'RUNNING' ? 'running' : 'stopped', boots, userData };
    });
  }

  all(): FakeInstance[] {
    this.finishDue();
    return [...this.instances.values()];
  }

  /** Returns the labelled resources that are not machines. */
  leftOvers(): string[] {
    return this.things.map(({ name }) => name);
  }

  addLeftOver(kind: Thing['kind'], thing: Pick<Thing, 'name' | 'where' | 'labels'>): void {
    this.things.push({ kind, users: [], created: now(), ...thing });
  }

  /** Adds a running machine without a request. */
  addInstance({
    name,
    zone,
    labels,
    createdAt,
  }: Pick<FakeInstance, 'name' | 'zone' | 'labels'> & { createdAt: string }): void {
    const request = { labels, networkInterfaces: [{}], disks: [] };
    const made = { name, zone, labels, status: 'RUNNING', boots: 1, startupScript: '', request };
    this.instances.set(name, { ...made, created: createdAt, shownFrom: 0 });
  }

  /** Takes a spot instance back, as Google does. */
  preempt(name: string): void {
    this.finishDue();
    const instance = this.instances.get(name);
    if (!instance || instance.status !== 'RUNNING') throw new Error(`${name} does not run`);
    Object.assign(instance, { status: 'TERMINATED', stopped: now() });
    const words = 'Instance was preempted.';
    this.operate(instance, 'compute.instances.preempted', { words });
  }

  /** Makes the next operation of the type fail; several calls add up. */
  failOperation(type: string, code: string, message: string): void {
    this.failures.push({ type, code, message });
  }

  /** Ends all operations in progress. */
  endOperations(): void {
    for (const operation of this.operations) operation.doneAt = Math.min(operation.doneAt, performance.now());
    this.finishDue();
  }

  /** Makes the next request be refused. */
  refuse(refusal: Refusal): void {
    this.refusals.push(refusal);
  }

  /** Makes the next change be done without its response arriving. */
  loseAnswer(): void {
    this.lost += 1;
  }

  /** Makes the listener answer every request; null restores Compute Engine. */
  answerWith(listener: ((request: IncomingMessage, response: ServerResponse) => void) | null): void {
    this.override = listener;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await bodyOf(request);
    if (this.override) return this.override(request, response);
    try {
      const { id, method, parameters } = this.methodOf(request);
      this.calls.push(id);
      this.authenticate(request);
      const refusal = this.refusals.shift();
      if (refusal) throw new Refused(refusal);
      const body = text === '' ? {} : (JSON.parse(text) as Json);
      const misfit = method.request === undefined ? null : misfitOf(body, { $ref: method.request }, 'resource');
      if (misfit !== null) throw invalid(`Invalid JSON payload received. ${misfit}`);
      this.permit(id, parameters);
      this.finishDue();
      const answer = this.answer(id, parameters, body);
      const flaw = misfitOf(answer, { $ref: method.response }, id);
      if (flaw !== null) this.flaws.push(`An answer of the fake does not hold to the schema: ${flaw}`);
      if (request.method !== 'GET' && this.lost > 0) {
        this.lost -= 1;
        response.destroy();
        return;
      }
      send(response, 200, answer);
    } catch (error) {
      if (!(error instanceof Refused)) this.flaws.push(String(error));
      const { status, reason, message, retryAfter } =
        error instanceof Refused ? error.refusal : { status: 500, reason: 'backendError', message: String(error) };
      if (retryAfter !== undefined) response.setHeader('Retry-After', retryAfter);
      send(response, status, { error: { code: status, message, errors: [{ message, domain: 'global', reason }] } });
    }
  }

  private methodOf(request: IncomingMessage): { id: string; method: Method; parameters: Record<string, string> } {
    const url = new URL(request.url ?? '/', this.url);
    for (const [id, method] of Object.entries(PUBLISHED.methods)) {
      const path = new RegExp(`^/${method.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`).exec(url.pathname);
      if (!path || method.httpMethod !== request.method) continue;
      const given = { ...path.groups, ...Object.fromEntries(url.searchParams) };
      const parameters = Object.fromEntries(
        Object.entries(given).map(([name, value]) => [name, decodeURIComponent(value)]),
      );
      for (const [name, value] of Object.entries(parameters)) {
        const known = method.parameters[name];
        if (!known) throw invalid(`Unknown parameter ${name} of ${id}.`);
        if (known.pattern && !new RegExp(`^(?:${known.pattern})$`).test(value))
          throw invalid(`Invalid value '${value}' of ${name}: it must match '${known.pattern}'.`);
      }
      if (parameters['requestId'] !== undefined && !UUID.test(parameters['requestId']))
        throw invalid(`Invalid value for field 'requestId': '${parameters['requestId']}'. Must be a valid UUID.`);
      return { id, method, parameters };
    }
    throw new Refused({ status: 404, reason: 'notFound', message: `No method at ${request.method} ${url.pathname}` });
  }

  private authenticate(request: IncomingMessage): void {
    const [, token = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? [];
    try {
      const claims = verify(token, this.publicKey, { algorithms: ['RS256'], issuer: this.email, subject: this.email });
      if (typeof claims === 'object' && String(claims['scope']).includes('auth/compute')) return;
    } catch {
      // The error is reported below, as Google does.
    }
    const message = 'Request had invalid authentication credentials. Expected OAuth 2 access token.';
    throw new Refused({ status: 401, reason: 'authError', message });
  }

  private permit(id: string, { project = '', zone = '' }: Record<string, string>): void {
    const [, resource = '', verb = ''] = id.split('.');
    const permission = `compute.${resource}.${PERMISSIONS[verb] ?? verb}`;
    if (this.lacking.has(permission)) {
      const message = `Required '${permission}' permission for 'projects/${project}/zones/${zone}'`;
      throw new Refused({ status: 403, reason: 'forbidden', message });
    }
    if (project !== this.project) throw missing(`projects/${project}`);
    if (zone !== '' && !this.zones.has(zone)) throw missing(`projects/${project}/zones/${zone}`);
  }

  private answer(id: string, parameters: Record<string, string>, body: Json): Json {
    const { zone = '', instance = '', requestId } = parameters;
    const found = () => this.instance(zone, instance);
    const things = (kind: Thing['kind']) =>
      this.aggregated(
        kind,
        parameters,
        this.things.filter((one) => one.kind === kind).map((one) => this.thing(one)),
      );
    const answers: Readonly<Record<string, () => Json>> = {
      'compute.instances.insert': () => this.insert(zone, requestId, body),
      'compute.instances.list': () =>
        this.list(
          'instance',
          parameters,
          this.listed().filter((one) => one['zone'] === `${this.self}/zones/${zone}`),
        ),
      'compute.instances.aggregatedList': () => this.aggregated('instances', parameters, this.listed()),
      'compute.instances.stop': () => this.end(found(), parameters),
      'compute.instances.start': () => this.begin(found()),
      'compute.instances.delete': () => this.delete(found()),
      'compute.disks.aggregatedList': () => things('disks'),
      'compute.addresses.aggregatedList': () => things('addresses'),
      'compute.disks.delete': () => this.remove('disks', parameters['disk'] ?? '', zone),
      'compute.addresses.delete': () =>
        this.remove('addresses', parameters['address'] ?? '', parameters['region'] ?? ''),
      'compute.zoneOperations.list': () => {
        const own = this.operations.filter((one) => one.zone === zone).map((one) => this.operationBody(one));
        return this.list('operation', parameters, own.reverse());
      },
    };
    const answer = answers[id];
    if (!answer) throw new Error(`The fake does not have ${id}`);
    return answer();
  }

  private delete(instance: Instance): Json {
    instance.status = 'STOPPING';
    return this.operationBody(this.operate(instance, 'delete', { finish: () => this.vanish(instance) }));
  }

  private get self(): string {
    return `${SELF}/projects/${this.project}`;
  }

  private insert(zone: string, requestId: string | undefined, request: Json): Json {
    const body = JSON.stringify(request);
    const before = requestId === undefined ? undefined : this.requests.get(requestId);
    if (before) {
      if (before.body !== body) throw invalid('The request differs from the one that its requestId was sent with.');
      return this.operationBody(before.operation);
    }
    const name = String(request['name']);
    if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) throw invalid(`Invalid value for field 'resource.name'`);
    if (this.instances.has(name)) {
      const message = `The resource '${this.self}/zones/${zone}/instances/${name}' already exists`;
      throw new Refused({ status: 409, reason: 'alreadyExists', message });
    }
    this.refuseUnknown(request);
    const labels = (request['labels'] ?? {}) as Record<string, string>;
    if (Object.keys(labels).length > 64)
      throw invalid(`Invalid value for field 'resource.labels': more than 64 labels`);
    const failure = this.failureOf('insert');
    const instance: Instance = {
      ...{ name, zone, status: 'PROVISIONING', boots: 0, request, created: now() },
      labels,
      startupScript: metadataOf(request)['startup-script'] ?? '',
      shownFrom: performance.now() + this.hiddenMs,
    };
    const operation = this.operate(instance, 'insert', {
      error: failure,
      finish: () => (failure ? this.instances.delete(name) : boot(instance)),
    });
    if (failure === undefined) {
      this.instances.set(name, instance);
      this.addDisks(instance);
    }
    if (requestId !== undefined) this.requests.set(requestId, { operation, body });
    return this.operationBody(operation);
  }

  /** Refuses a request that names missing resources, before anything is created. */
  private refuseUnknown(request: Json): void {
    const type = String(request['machineType']).split('/').at(-1) ?? '';
    if (!this.machineTypes.has(type))
      throw invalid(`Invalid value for field 'resource.machineType': '${type}'. Machine type does not exist.`);
    for (const { initializeParams } of request['disks'] as { initializeParams?: DiskParams }[]) {
      const image = initializeParams?.sourceImage;
      if (image !== undefined && !this.images.has(image)) throw missing(image);
    }
    for (const { subnetwork } of request['networkInterfaces'] as { subnetwork?: string }[])
      if (subnetwork !== undefined && !this.subnets.has(subnetwork))
        throw invalid(`Invalid value for field 'resource.networkInterfaces[0].subnetwork': '${subnetwork}'.`);
  }

  private addDisks({ name, zone, request }: Instance): void {
    for (const [index, disk] of (request['disks'] as { type?: string; initializeParams?: DiskParams }[]).entries()) {
      const { diskName = index === 0 ? name : undefined, labels = {} } = disk.initializeParams ?? {};
      if (disk.type === 'SCRATCH' || diskName === undefined) continue;
      const users = [`${this.self}/zones/${zone}/instances/${name}`];
      this.things.push({ kind: 'disks', name: diskName, where: zone, labels, users, created: now() });
    }
  }

  private end(instance: Instance, parameters: Record<string, string>): Json {
    const local = (instance.request['disks'] as { type?: string }[]).some(({ type }) => type === 'SCRATCH');
    if (local && parameters['discardLocalSsd'] === undefined)
      throw invalid('VM has a Local SSD attached but an undefined value for `discard-local-ssd`.');
    instance.status = 'STOPPING';
    const finish = () => Object.assign(instance, { status: 'TERMINATED', stopped: now() });
    return this.operationBody(this.operate(instance, 'stop', { finish }));
  }

  private begin(instance: Instance): Json {
    const error = this.failureOf('start');
    const finish = () => (error ? undefined : boot(instance));
    return this.operationBody(this.operate(instance, 'start', { error, finish }));
  }

  private remove(kind: Thing['kind'], name: string, where: string): Json {
    const index = this.things.findIndex((one) => one.kind === kind && one.name === name && one.where === where);
    const thing = this.things[index];
    if (!thing) throw missing(`${kind}/${name}`);
    if (thing.users.length > 0) {
      const message = `The resource '${name}' is already being used by '${thing.users[0]}'`;
      throw new Refused({ status: 400, reason: 'resourceInUseByAnotherResource', message });
    }
    this.things.splice(index, 1);
    return this.operationBody(this.operate({ zone: where, name }, 'delete', {}));
  }

  private vanish({ name }: Instance): void {
    this.instances.delete(name);
    const kept = this.things.filter(({ users }) => !users.some((user) => user.endsWith(`/${name}`)));
    this.things.splice(0, this.things.length, ...kept);
  }

  private operate(
    { zone, name }: Pick<Instance, 'zone' | 'name'>,
    type: string,
    rest: Pick<Operation, 'words' | 'error' | 'finish'>,
  ): Operation {
    const target = `${this.self}/zones/${zone}/instances/${name}`;
    const doneAt = performance.now() + this.operationMs;
    const operation = { name: `operation-${++this.count}`, zone, type, target, doneAt, inserted: now(), ...rest };
    this.operations.push(operation);
    return operation;
  }

  private failureOf(type: string): { code: string; message: string } | undefined {
    const index = this.failures.findIndex((one) => one.type === type);
    const [failure] = index < 0 ? [] : this.failures.splice(index, 1);
    return failure && { code: failure.code, message: failure.message };
  }

  /** Ends the operations whose time has come. */
  private finishDue(): void {
    for (const operation of this.operations) {
      if (operation.finish === undefined || operation.doneAt > performance.now()) continue;
      const { finish } = operation;
      delete operation.finish;
      finish();
    }
  }

  private instance(zone: string, name: string): Instance {
    const found = this.instances.get(name);
    if (found?.zone !== zone) throw missing(`projects/${this.project}/zones/${zone}/instances/${name}`);
    return found;
  }

  private listed(): Json[] {
    const shown = [...this.instances.values()].filter(({ shownFrom }) => shownFrom <= performance.now());
    return shown.map((one) => this.shown(one));
  }

  private shown(instance: Instance): Json {
    const { name, zone, status, request, created, started, stopped } = instance;
    const [card] = request['networkInterfaces'] as Json[];
    const access = card?.['accessConfigs'] as Json[] | undefined;
    const address = [...createHash('sha256').update(name).digest()].slice(0, 3).join('.');
    return {
      ...request,
      ...{ kind: 'compute#instance', id: '1', name, status, zone: `${this.self}/zones/${zone}` },
      creationTimestamp: created,
      ...(started === undefined ? {} : { lastStartTimestamp: started }),
      ...(stopped === undefined ? {} : { lastStopTimestamp: stopped }),
      networkInterfaces: [
        {
          ...card,
          networkIP: `10.${address}`,
          ...(access ? { accessConfigs: [{ ...access[0], natIP: '192.0.2.7' }] } : {}),
        },
      ],
    };
  }

  private thing({ kind, name, where, labels, users, created }: Thing): Json {
    const at = kind === 'disks' ? { zone: `${this.self}/zones/${where}` } : { region: `${this.self}/regions/${where}` };
    return { name, labels, users, creationTimestamp: created, ...at };
  }

  private operationBody({ name, zone, type, target, doneAt, inserted, words, error }: Operation): Json {
    const done = doneAt <= performance.now();
    return {
      ...{ kind: 'compute#operation', name, operationType: type, targetLink: target, insertTime: inserted },
      ...{ zone: `${this.self}/zones/${zone}`, status: done ? 'DONE' : 'RUNNING', progress: done ? 100 : 0 },
      ...(words === undefined ? {} : { statusMessage: words }),
      ...(done && error ? { error: { errors: [error] }, httpErrorStatusCode: 503 } : {}),
    };
  }

  private list(kind: string, parameters: Record<string, string>, items: Json[]): Json {
    const { page, next } = this.page(parameters, items);
    return { kind: `compute#${kind}List`, items: page, ...(next === null ? {} : { nextPageToken: next }) };
  }

  private aggregated(kind: string, parameters: Record<string, string>, items: Json[]): Json {
    const { page, next } = this.page(parameters, items);
    const scopes: Record<string, Json> = {};
    for (const zone of this.zones) scopes[`zones/${zone}`] = { warning: { code: 'NO_RESULTS_ON_PAGE' } };
    for (const item of page) {
      const where = String(item['zone'] ?? item['region'])
        .split('/')
        .slice(-2)
        .join('/');
      const scope = scopes[where] ?? {};
      scopes[where] = { [kind]: [...((scope[kind] as Json[] | undefined) ?? []), item] };
    }
    const of = { instances: 'instance', disks: 'disk', addresses: 'address' }[kind] ?? kind;
    return { kind: `compute#${of}AggregatedList`, items: scopes, ...(next === null ? {} : { nextPageToken: next }) };
  }

  private page(parameters: Record<string, string>, items: Json[]): { page: Json[]; next: string | null } {
    const { filter = '', maxResults = '500', pageToken = '0' } = parameters;
    if (Number(maxResults) > 500) throw invalid('maxResults must be at most 500');
    const wanted = items.filter(matching(filter));
    const size = Math.min(this.pageSize, Number(maxResults));
    const from = Number(pageToken);
    return { page: wanted.slice(from, from + size), next: from + size < wanted.length ? String(from + size) : null };
  }
}

function boot(instance: Instance): void {
  Object.assign(instance, { status: 'RUNNING', started: now(), boots: instance.boots + 1 });
}

/** Matches comparisons with `OR` between them, the part of Google's filters that the driver uses. */
function matching(filter: string): (item: Json) => boolean {
  if (filter === '') return () => true;
  const comparisons = filter.split(' OR ').map((text) => {
    const [, path, operator, value] = /^\(?([\w.]+)(=|:)"([^"]*)"\)?$/.exec(text) ?? [];
    if (path === undefined || value === undefined) throw invalid(`Invalid value for field 'filter': '${filter}'.`);
    return { path: path.split('.'), isEqual: operator === '=', value };
  });
  return (item) =>
    comparisons.some(({ path, isEqual, value }) => {
      const at = path.reduce<unknown>((from, key) => (from as Json | undefined)?.[key], item);
      return isEqual ? at === value : typeof at === 'string' && at.includes(value);
    });
}

/** Returns why a value violates a schema; null if it does not. */
function misfitOf(value: unknown, schema: Schema, at: string): string | null {
  if (schema.$ref !== undefined) return misfitOf(value, PUBLISHED.schemas[schema.$ref] ?? {}, at);
  if (schema.enum && !schema.enum.includes(String(value))) return `Invalid value at '${at}': ${String(value)}`;
  if (schema.type === 'array') return listMisfit(value, schema, at);
  if (schema.type === 'object') return objectMisfit(value, schema, at);
  if (schema.type === 'integer') return Number.isInteger(value) ? null : `Not an integer at '${at}'`;
  if (schema.type !== undefined && typeof value !== schema.type) return `Not a ${schema.type} at '${at}'`;
  const isNumber = schema.format === 'int64' || schema.format === 'uint64';
  return isNumber && !/^-?\d+$/.test(String(value)) ? `Not a number at '${at}'` : null;
}

function listMisfit(value: unknown, { items = {} }: Schema, at: string): string | null {
  if (!Array.isArray(value)) return `Not a list at '${at}'`;
  return firstOf(value.map((one, index) => misfitOf(one, items, `${at}[${index}]`)));
}

function objectMisfit(value: unknown, schema: Schema, at: string): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return `Not an object at '${at}'`;
  return firstOf(
    Object.entries(value).map(([key, one]) => {
      const known = schema.properties?.[key] ?? schema.additionalProperties;
      return known ? misfitOf(one, known, `${at}.${key}`) : `Unknown name "${key}" at '${at}'`;
    }),
  );
}

function firstOf(misfits: (string | null)[]): string | null {
  return misfits.find((one) => one !== null) ?? null;
}

function metadataOf(request: Json): Record<string, string> {
  const { items = [] } = request['metadata'] as { items?: { key: string; value: string }[] };
  return Object.fromEntries(items.map(({ key, value }) => [key, value]));
}

function invalid(message: string): Refused {
  return new Refused({ status: 400, reason: 'invalid', message });
}

function missing(what: string): Refused {
  return new Refused({ status: 404, reason: 'notFound', message: `The resource '${what}' was not found` });
}

function now(): string {
  return new Date().toISOString();
}

function send(response: ServerResponse, status: number, body: Json): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
