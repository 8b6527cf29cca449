import {
  DeleteNetworkInterfaceCommand,
  DeleteTagsCommand,
  DeleteVolumeCommand,
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeNetworkInterfacesCommand,
  DescribeVolumesCommand,
  type Filter,
  ReleaseAddressCommand,
  RunInstancesCommand,
  StartInstancesCommand,
  StopInstancesCommand,
  type Tag,
  TerminateInstancesCommand,
} from '@aws-sdk/client-ec2';
import {
  type CloudDriverOptions,
  INSTALLATION_LABEL,
  joinedOwner,
  MACHINE_LABEL,
  NODE_LABEL,
  ownerOf,
} from '../cloud-driver';
import {
  type ComputeDriver,
  ComputeDriverError,
  goneNode,
  type DriverContext,
  type Market,
  type NodeRef,
  type NodeSpec,
  type OwnedScope,
  type OwnershipLabels,
  type ProviderNode,
  type Swept,
  type SweepScope,
} from '../compute-driver';
import { grouped } from '../grouped';
import { strangeAnswer } from '../no-answer';
import type { Place } from '../place';
import { both, sweepFound } from '../sweep';
import { AwsConnection } from './aws-connection';
import { isBusy, isMissing, refused } from './aws-faults';
import { assertLaunchable, imageOf, launchRequest } from './aws-launch';
import { type AwsMachine, dateIn, faultIn, isOver, labelsIn, machineIn, shown, stateOf } from './aws-machine';
import { is, like, literal, resolvePlace, zonesOf } from './aws-place';

/** The most values that a filter may have. */
const FILTER_VALUES = 200;
const PAGE = 1000;
/** EC2 accepts a thousand. */
const ENDED_PER_CALL = 500;

/**
 * Filters for the two forms of ownership labels (ADR 0058). EC2 can search for only one form at a time. All machines of a node
 * have the same form, because the node keeps its labels.
 */
const LABEL_FORMS: readonly Record<
  keyof Pick<OwnershipLabels, 'installationId' | 'nodeToken'>,
  (ids: readonly string[]) => Filter
>[] = [
  {
    nodeToken: (tokens) => is(`tag:${NODE_LABEL}`, ...tokens),
    installationId: (ids) => is(`tag:${INSTALLATION_LABEL}`, ...ids),
  },
  {
    nodeToken: (tokens) =>
      like(`tag:${MACHINE_LABEL}`, ...tokens.map((nodeToken) => joinedOwner({ nodeToken: literal(nodeToken) }))),
    installationId: (ids) =>
      like(
        `tag:${MACHINE_LABEL}`,
        ...ids.map((installationId) => joinedOwner({ installationId: literal(installationId) })),
      ),
  },
];

/** What is left of a machine that has ended. */
interface Leftover {
  id: string;
  nodeToken: string;
  /** Null where EC2 does not say. */
  createdAt: Date | null;
  remove: () => Promise<unknown>;
}

/** Nodes as instances of Amazon EC2, in the region of their zone. */
export class AwsDriver implements ComputeDriver {
  readonly name = 'aws';

  constructor(private readonly options: CloudDriverOptions) {}

  async provision(spec: NodeSpec, context: DriverContext): Promise<ProviderNode> {
    const script = this.options.bootScript(spec, spec.market === 'spot' ? 'aws' : null);
    assertLaunchable(spec, script);
    const secrets = [spec.boot.bootstrapToken, Buffer.from(script).toString('base64')];
    const aws = this.connection(spec.place, context, secrets);
    const found = await existing(spec, aws);
    if (found) return shown(found);
    const place = await resolvePlace(spec.place, aws);
    const request = launchRequest(spec, place, await imageOf(spec.image, aws), script);
    try {
      const { Instances = [] } = await aws.call((client, options) =>
        client.send(new RunInstancesCommand(request), options),
      );
      return shown(ours(Instances.map(machineIn), spec));
    } catch (error) {
      if (!isMismatch(error)) throw error;
      // Something of the request, such as the network, has changed since the first try: that one's machine counts.
      const first = await existing(spec, aws);
      if (first) return shown(first);
      throw error;
    }
  }

  async describe(refs: readonly NodeRef[], context: DriverContext): Promise<ProviderNode[]> {
    const machines: AwsMachine[] = [];
    for (const group of grouped(refs, ({ place }) => place.region).values()) {
      const aws = this.connection(group[0].place, context);
      for (let at = 0; at < group.length; at += FILTER_VALUES) {
        const tokens = group.slice(at, at + FILTER_VALUES).map(({ nodeToken }) => nodeToken);
        machines.push(...(await ofNodes(tokens, aws)));
      }
    }
    const byToken = grouped(machines, ({ labels }) => labels.nodeToken);
    return refs.map((ref) => {
      const machine = bestOf(byToken.get(ref.nodeToken) ?? [], ref);
      return machine ? shown(machine) : goneNode(ref.nodeToken);
    });
  }

  zones(place: Place, context: DriverContext): Promise<string[]> {
    return zonesOf(place, this.connection(place, context));
  }

  /** A one-time spot machine can only be ended. */
  canStop({ market }: { market: Market; type: string }): boolean {
    return market !== 'spot';
  }

  async stop(ref: NodeRef, context: DriverContext): Promise<'stopped' | 'stopping'> {
    const aws = this.connection(ref.place, context);
    const machine = (await ofNode(ref.nodeToken, aws)).find((one) => !isOver(one));
    if (!machine || machine.lifecycle === 'stopped') return 'stopped';
    if (machine.lifecycle === 'stopping' || machine.lifecycle === 'shutting-down') return 'stopping';
    if (machine.spot)
      throw new ComputeDriverError('UnsupportedOperation', 'A one-time spot machine cannot be stopped.', {
        kind: 'invalid',
      });
    await unlessBusy(
      aws.call((client, options) => client.send(new StopInstancesCommand({ InstanceIds: [machine.id] }), options)),
    );
    return 'stopping';
  }

  async start(ref: NodeRef, context: DriverContext): Promise<ProviderNode> {
    const aws = this.connection(ref.place, context);
    const machine = bestOf(await ofNode(ref.nodeToken, aws), ref);
    if (!machine || isOver(machine) || machine.lifecycle === 'shutting-down') {
      if (machine && stateOf(machine) === 'interrupted') throw takenBack();
      throw new ComputeDriverError('NodeGone', 'EC2 has no machine of this node to start.', { kind: 'invalid' });
    }
    if (machine.lifecycle === 'stopping')
      throw new ComputeDriverError('IncorrectInstanceState', 'The machine is still stopping.', { kind: 'transient' });
    if (machine.lifecycle !== 'stopped') return shown(machine);
    await aws.call((client, options) => client.send(new StartInstancesCommand({ InstanceIds: [machine.id] }), options));
    return shown({ ...machine, lifecycle: 'pending', reason: { code: '', message: '' } });
  }

  async destroy(
    { nodeToken, place }: Pick<NodeRef, 'nodeToken' | 'place'>,
    context: DriverContext,
  ): Promise<'gone' | 'going'> {
    const aws = this.connection(place, context);
    const machines = await ofNode(nodeToken, aws);
    if ((await end(machines, aws)) === 'going') return 'going';
    const left = await leftovers('nodeToken', nodeToken, aws);
    for (const { remove } of left) await unlessBusy(remove());
    return left.length > 0 ? 'going' : 'gone';
  }

  async listOwned(scope: OwnedScope, context: DriverContext): Promise<ProviderNode[]> {
    return (await owned(scope, this.connection(scope.place, context))).map(shown);
  }

  async sweep(scope: SweepScope, context: DriverContext): Promise<Swept> {
    const aws = this.connection(scope.place, context);
    const machines = await owned(scope, aws);
    const running = machines.filter(({ lifecycle }) => lifecycle !== 'shutting-down').map(swept);
    const ended = await sweepFound(running, scope, context, {
      perCall: ENDED_PER_CALL,
      // EC2 ends all of them or none.
      mayBlameOne: (error) => error instanceof ComputeDriverError && (!error.retryable || isBusy(error)),
      remove: (some) => terminate(some, aws),
    });
    const withMachine = new Set(machines.map(({ labels }) => labels.nodeToken));
    const left = await leftovers('installationId', scope.installationId, aws);
    const unused = left.filter(({ nodeToken }) => !withMachine.has(nodeToken));
    const removed = await sweepFound(unused, scope, context, {
      // EC2 tells no age of network cards and addresses.
      ageless: true,
      remove: async ([one]) => one && (await unlessBusy(one.remove())),
    });
    return both(ended, removed);
  }

  private connection({ region }: Place, context: DriverContext, secrets: string[] = []): AwsConnection {
    const { endpoint, outbound } = this.options;
    return new AwsConnection(context, { region, endpoint, agents: outbound.agents, secrets });
  }
}

/** The machine that an earlier try made; throws while there is that of another attempt, and for one that has ended. */
async function existing(spec: NodeSpec, aws: AwsConnection): Promise<AwsMachine | null> {
  const machines = await ofNode(spec.labels.nodeToken, aws);
  const living = machines.find((machine) => !isOver(machine));
  if (living?.attempt === spec.attempt) return living;
  if (living)
    throw new ComputeDriverError('AttemptExists', `The machine of attempt ${living.attempt} is not gone yet.`, {
      kind: 'transient',
    });
  const before = machines.find(({ attempt }) => attempt === spec.attempt);
  if (!before) return null;
  if (stateOf(before) === 'interrupted') throw takenBack();
  throw faultIn(before) ?? refused('the machine that EC2 made for this node has ended before it was used');
}

function ours(machines: readonly (AwsMachine | null)[], { labels, attempt }: NodeSpec): AwsMachine {
  const found = machines.find((one) => one?.labels.nodeToken === labels.nodeToken && one.attempt === attempt);
  if (found) return found;
  throw strangeAnswer('EC2', 'answers with another machine than it was asked for');
}

/** Machines of the node, including those that have ended, as long as EC2 lists them. */
async function ofNode(nodeToken: string, aws: AwsConnection): Promise<AwsMachine[]> {
  const machines = await ofNodes([nodeToken], aws);
  return machines.filter(({ labels }) => labels.nodeToken === nodeToken);
}

async function ofNodes(tokens: readonly string[], aws: AwsConnection): Promise<AwsMachine[]> {
  const machines: AwsMachine[] = [];
  let missing = tokens;
  for (const form of LABEL_FORMS) {
    if (missing.length === 0) break;
    machines.push(...(await listed([form.nodeToken(missing)], aws)));
    const found = new Set(machines.map(({ labels }) => labels.nodeToken));
    missing = missing.filter((token) => !found.has(token));
  }
  return machines;
}

/** Machines of the installation that have not ended. */
async function owned({ installationId }: OwnedScope, aws: AwsConnection): Promise<AwsMachine[]> {
  const states = is('instance-state-name', 'pending', 'running', 'stopping', 'stopped', 'shutting-down');
  const machines: AwsMachine[] = [];
  for (const form of LABEL_FORMS)
    machines.push(...(await listed([form.installationId([installationId]), states], aws)));
  return unique(machines).filter((one) => one.labels.installationId === installationId && !isOver(one));
}

async function listed(Filters: Filter[], aws: AwsConnection): Promise<AwsMachine[]> {
  return aws.all(
    (client, page, options) =>
      client.send(new DescribeInstancesCommand({ Filters, MaxResults: PAGE, ...page }), options),
    // Of each page, what is used of it: an instance has some kilobytes.
    ({ Reservations = [] }) =>
      Reservations.flatMap(({ Instances = [] }) => Instances.map(machineIn)).filter((machine) => machine !== null),
  );
}

/** The machine a node has, or else the one that it had in this attempt. */
function bestOf(machines: readonly AwsMachine[], { attempt }: NodeRef): AwsMachine | null {
  return machines.find((one) => !isOver(one)) ?? machines.find((one) => one.attempt === attempt) ?? null;
}

function takenBack(): ComputeDriverError {
  const message = 'EC2 has taken this spot machine back; it does not come back.';
  return new ComputeDriverError('SpotInstanceTermination', message, { kind: 'invalid' });
}

function isMismatch(error: unknown): boolean {
  return error instanceof ComputeDriverError && error.code === 'IdempotentParameterMismatch';
}

/** Ends the machines of a node. One that ended by itself is no longer shown as its machine, since it has been dealt with. */
async function end(machines: readonly AwsMachine[], aws: AwsConnection): Promise<'gone' | 'going'> {
  const living = machines.filter((machine) => !isOver(machine));
  for (const machine of living) if (machine.lifecycle !== 'shutting-down') await terminate([machine], aws);
  for (const machine of machines)
    if (isOver(machine) && stateOf(machine) !== 'gone')
      await unlessBusy(
        aws.call((client, options) =>
          client.send(
            new DeleteTagsCommand({ Resources: [machine.id], Tags: [{ Key: NODE_LABEL }, { Key: MACHINE_LABEL }] }),
            options,
          ),
        ),
      );
  return living.length > 0 ? 'going' : 'gone';
}

/** Of one that is gone, or just changing, the next look tells more. */
async function terminate(machines: readonly Pick<AwsMachine, 'id'>[], aws: AwsConnection): Promise<void> {
  const InstanceIds = machines.map(({ id }) => id);
  const call = aws.call((client, options) => client.send(new TerminateInstancesCommand({ InstanceIds }), options));
  await (machines.length === 1 ? unlessBusy(call) : call);
}

function swept({ id, labels, createdAt }: AwsMachine) {
  return { id, nodeToken: labels.nodeToken, createdAt };
}

/** What is gone, or just changing, is looked at again. */
async function unlessBusy(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isBusy(error) && !isMissing(error)) throw error;
  }
}

/** Volumes, network cards and addresses of the node or the installation that no machine uses. */
async function leftovers(of: keyof (typeof LABEL_FORMS)[number], id: string, aws: AwsConnection): Promise<Leftover[]> {
  const found: Leftover[] = [];
  for (const form of LABEL_FORMS) found.push(...(await unused(form[of]([id]), (owner) => owner[of] === id, aws)));
  return unique(found);
}

/** Removes duplicates: an answer may contain more than was asked for. */
function unique<T extends { id: string }>(found: readonly T[]): T[] {
  return [...new Map(found.map((one) => [one.id, one])).values()];
}

/** @param isAsked whether the owner is the one that was asked for: an answer may contain others */
async function unused(
  label: Filter,
  isAsked: (owner: OwnershipLabels) => boolean,
  aws: AwsConnection,
): Promise<Leftover[]> {
  const leftover = (
    id: string | undefined,
    tags: readonly Tag[] | undefined,
    createdAt: unknown,
    remove: () => Promise<unknown>,
  ): Leftover[] => {
    const owner = ownerOf(labelsIn(tags));
    if (!id || !owner || !isAsked(owner)) return [];
    return [{ id, nodeToken: owner.nodeToken, createdAt: dateIn(createdAt), remove }];
  };
  const volumes = await aws.all(
    (client, page, options) =>
      client.send(
        new DescribeVolumesCommand({ Filters: [label, is('status', 'available', 'error')], ...page }),
        options,
      ),
    ({ Volumes = [] }) =>
      Volumes.flatMap(({ VolumeId, Tags, CreateTime }) =>
        leftover(VolumeId, Tags, CreateTime, () =>
          aws.call((client, options) => client.send(new DeleteVolumeCommand({ VolumeId }), options)),
        ),
      ),
  );
  const cards = await aws.all(
    (client, page, options) =>
      client.send(
        new DescribeNetworkInterfacesCommand({ Filters: [label, is('status', 'available')], ...page }),
        options,
      ),
    ({ NetworkInterfaces = [] }) =>
      NetworkInterfaces.flatMap(({ NetworkInterfaceId, TagSet }) =>
        leftover(NetworkInterfaceId, TagSet, null, () =>
          aws.call((client, options) =>
            client.send(new DeleteNetworkInterfaceCommand({ NetworkInterfaceId }), options),
          ),
        ),
      ),
  );
  const { Addresses = [] } = await aws.call((client, options) =>
    client.send(new DescribeAddressesCommand({ Filters: [label] }), options),
  );
  const addresses = Addresses.filter(({ AssociationId }) => !AssociationId).flatMap(({ AllocationId, Tags }) =>
    leftover(AllocationId, Tags, null, () =>
      aws.call((client, options) => client.send(new ReleaseAddressCommand({ AllocationId }), options)),
    ),
  );
  return [...volumes, ...cards, ...addresses];
}
