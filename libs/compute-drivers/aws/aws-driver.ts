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
  ownerLabelValue,
  MACHINE_LABEL,
  NODE_LABEL,
  type Owner,
  ownerOf,
} from '../cloud-driver';
import type { ComputeDriverError, DriverContext, NodeSpec, OwnershipLabels } from '../compute-driver';
import { dateOf } from '../machines/response-values';
import type { Cloud, CloudPort, ErrorClass, Leftover, Machine, NodeQuery } from '../machines/cloud-port';
import { MachineDriver } from '../machines/machine-driver';
import { unexpectedResponse } from '../call-faults';
import type { Place } from '../place';
import { AwsConnection } from './aws-connection';
import { isBusy, isMissing } from './aws-faults';
import { assertLaunchable, imageOf, launchRequest } from './aws-launch';
import { labelsIn, machineIn } from './aws-machine';
import { equalsFilter, escapeWildcards, resolvePlace, wildcardFilter, zonesOf } from './aws-place';

/** EC2's limit of values in one filter. */
const MAX_FILTER_VALUES = 200;
const PAGE_SIZE = 1000;

/**
 * Filters for the two forms of ownership labels (ADR 0058). EC2 can search for only one form at a time. All machines of a node
 * have the same form, because the node keeps its labels.
 */
const LABEL_FORMS: readonly Record<
  keyof Pick<OwnershipLabels, 'installationId' | 'nodeToken'>,
  (ids: readonly string[]) => Filter
>[] = [
  {
    nodeToken: (tokens) => equalsFilter(`tag:${NODE_LABEL}`, ...tokens),
    installationId: (ids) => equalsFilter(`tag:${INSTALLATION_LABEL}`, ...ids),
  },
  {
    nodeToken: (tokens) =>
      wildcardFilter(
        `tag:${MACHINE_LABEL}`,
        ...tokens.map((nodeToken) => ownerLabelValue({ nodeToken: escapeWildcards(nodeToken) })),
      ),
    installationId: (ids) =>
      wildcardFilter(
        `tag:${MACHINE_LABEL}`,
        ...ids.map((installationId) => ownerLabelValue({ installationId: escapeWildcards(installationId) })),
      ),
  },
];

class AwsCloud implements Cloud {
  readonly name = 'aws';
  readonly title = 'EC2';
  readonly notice = 'aws';
  /** A one-time spot machine can only be terminated. */
  readonly canStopSpot = false;
  readonly canRelaunchAttempt = false;
  /** EC2 accepts 1000. */
  readonly maxTerminationsPerCall = 500;
  /** EC2 does not report the age of network interfaces and addresses. */
  readonly hasLeftoversWithoutAge = true;

  constructor(private readonly options: CloudDriverOptions) {}

  open({ region }: Place, context: DriverContext, secrets: readonly string[]): AwsPort {
    const { endpoint, outbound } = this.options;
    return new AwsPort(new AwsConnection(context, { region, endpoint, agents: outbound.agents, secrets }));
  }
}

class AwsPort implements CloudPort {
  constructor(readonly aws: AwsConnection) {}

  prepareLaunch(spec: NodeSpec, script: string): () => Promise<Machine> {
    assertLaunchable(spec, script);
    return async () => {
      const place = await resolvePlace(spec.place, this.aws);
      const request = launchRequest(spec, place, await imageOf(spec.image, this.aws), script);
      const { Instances = [] } = await this.aws.call((client, options) =>
        client.send(new RunInstancesCommand(request), options),
      );
      const [made] = Instances.map(machineIn);
      if (made) return made;
      throw unexpectedResponse('EC2', 'returned another machine than the requested one');
    };
  }

  async find(sought: readonly NodeQuery[]): Promise<Machine[]> {
    const machines: Machine[] = [];
    for (let at = 0; at < sought.length; at += MAX_FILTER_VALUES) {
      let missing = sought.slice(at, at + MAX_FILTER_VALUES).map(({ nodeToken }) => nodeToken);
      for (const form of LABEL_FORMS) {
        if (missing.length === 0) break;
        machines.push(...(await this.listMachines([form.nodeToken(missing)])));
        const found = new Set(machines.map(({ owner }) => owner.nodeToken));
        missing = missing.filter((token) => !found.has(token));
      }
    }
    return machines;
  }

  async listOwned(installationId: string): Promise<Machine[]> {
    const states = equalsFilter('instance-state-name', 'pending', 'running', 'stopping', 'stopped', 'shutting-down');
    const machines: Machine[] = [];
    for (const form of LABEL_FORMS)
      machines.push(...(await this.listMachines([form.installationId([installationId]), states])));
    return unique(machines).filter(({ owner }) => owner.installationId === installationId);
  }

  start({ id }: Machine): Promise<unknown> {
    return this.aws.call((client, options) => client.send(new StartInstancesCommand({ InstanceIds: [id] }), options));
  }

  stop({ id }: Machine): Promise<unknown> {
    return this.aws.call((client, options) => client.send(new StopInstancesCommand({ InstanceIds: [id] }), options));
  }

  terminate(machines: readonly Machine[]): Promise<unknown> {
    const InstanceIds = machines.map(({ id }) => id);
    return this.aws.call((client, options) => client.send(new TerminateInstancesCommand({ InstanceIds }), options));
  }

  dismissEnd({ id }: Machine): Promise<unknown> {
    const labels = { Resources: [id], Tags: [{ Key: NODE_LABEL }, { Key: MACHINE_LABEL }] };
    return this.aws.call((client, options) => client.send(new DeleteTagsCommand(labels), options));
  }

  leftoversOfNode(nodeToken: string): Promise<Leftover[]> {
    return this.unusedParts('nodeToken', nodeToken);
  }

  leftoversOfInstallation(installationId: string): Promise<Leftover[]> {
    return this.unusedParts('installationId', installationId);
  }

  classify(error: ComputeDriverError): ErrorClass | null {
    if (error.code === 'IdempotentParameterMismatch') return 'exists';
    if (isMissing(error)) return 'missing';
    return isBusy(error) ? 'busy' : null;
  }

  private listMachines(Filters: Filter[]): Promise<Machine[]> {
    return this.aws.listAll(
      (client, page, options) =>
        client.send(new DescribeInstancesCommand({ Filters, MaxResults: PAGE_SIZE, ...page }), options),
      // An instance has some kilobytes, so only the parsed machine is kept.
      ({ Reservations = [] }) =>
        Reservations.flatMap(({ Instances = [] }) => Instances.map(machineIn)).filter((machine) => machine !== null),
    );
  }

  /** Lists volumes, network interfaces and addresses of the node or installation that no machine uses. */
  private async unusedParts(of: keyof (typeof LABEL_FORMS)[number], id: string): Promise<Leftover[]> {
    const found: Part[] = [];
    for (const form of LABEL_FORMS) found.push(...(await this.parts(form[of]([id]), (owner) => owner[of] === id)));
    return unique(found);
  }

  /** @param isRequested drops resources of other owners, which a response may contain */
  private async parts(label: Filter, isRequested: (owner: Owner) => boolean): Promise<Part[]> {
    const { aws } = this;
    const part = (
      id: string | undefined,
      tags: Tag[] | undefined,
      createdAt: unknown,
      remove: Part['remove'],
    ): Part[] => {
      const owner = ownerOf(labelsIn(tags));
      if (!id || !owner || !isRequested(owner)) return [];
      return [{ id, nodeToken: owner.nodeToken, createdAt: dateOf(createdAt), remove }];
    };
    const volumes = await aws.listAll(
      (client, page, options) =>
        client.send(
          new DescribeVolumesCommand({ Filters: [label, equalsFilter('status', 'available', 'error')], ...page }),
          options,
        ),
      ({ Volumes = [] }) =>
        Volumes.flatMap(({ VolumeId, Tags, CreateTime }) =>
          part(VolumeId, Tags, CreateTime, () =>
            aws.call((client, options) => client.send(new DeleteVolumeCommand({ VolumeId }), options)),
          ),
        ),
    );
    const cards = await aws.listAll(
      (client, page, options) =>
        client.send(
          new DescribeNetworkInterfacesCommand({ Filters: [label, equalsFilter('status', 'available')], ...page }),
          options,
        ),
      ({ NetworkInterfaces = [] }) =>
        NetworkInterfaces.flatMap(({ NetworkInterfaceId, TagSet }) =>
          part(NetworkInterfaceId, TagSet, null, () =>
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
      part(AllocationId, Tags, null, () =>
        aws.call((client, options) => client.send(new ReleaseAddressCommand({ AllocationId }), options)),
      ),
    );
    return [...volumes, ...cards, ...addresses];
  }
}

interface Part extends Leftover {
  id: string;
}

/** Removes duplicates, which the two forms of labels can cause. */
function unique<T extends { id: string }>(found: readonly T[]): T[] {
  return [...new Map(found.map((one) => [one.id, one])).values()];
}

/** Runs nodes on instances of Amazon EC2, in the region of their zone. */
export class AwsDriver extends MachineDriver<Machine, AwsCloud> {
  constructor(options: CloudDriverOptions) {
    super(new AwsCloud(options), options.bootScript);
  }

  zones(place: Place, context: DriverContext): Promise<string[]> {
    return zonesOf(place, this.cloud.open(place, context, []).aws);
  }
}
