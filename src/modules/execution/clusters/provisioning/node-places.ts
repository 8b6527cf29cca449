import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import type { Tx } from '../../../../platform/kernel/persistence/sql';
import { agentTokenHash, BootstrapTokens } from '../nodes/bootstrap-tokens';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';
import { BlockedOffersRepository, type RegionOffer } from './blocked-offers.repository';
import { type ClusterSnapshot, marketOf, nodeRef } from './cluster-snapshot';
import { blockedForMs, type Choice, nextZone, noRoom, nowhere } from './node-zones';

/** Of what is kept with a node for each zone. */
const MAX_WORDS = 500;

/** The operation that has nodes made. */
export interface Provisioning {
  /** Writes with the cluster locked; answers false, and writes nothing, once another operation has replaced this one. */
  hold(write: (tx: Tx) => Promise<void>): Promise<boolean>;
  /** How long the agent of a machine that is asked for now may take to register, milliseconds. */
  registerWithinMs: number;
}

/** What became of a node that is to be made elsewhere. */
type Moved = 'moved' | 'going' | 'superseded' | ComputeDriverError;

/** Where nodes are made, when their provider has no room for them where they were to be. */
@Injectable()
export class NodePlaces {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly offers: BlockedOffersRepository,
    private readonly bootstrapTokens: BootstrapTokens,
  ) {}

  /**
   * Takes note of a fault about the node's machine: for some time nobody of the tenant asks for the like there. Answers
   * whether its attempt is over by that, so that {@link moveAll} is to find it another place, or that there is none. One
   * that has been in use stays where its disk is.
   */
  async handleFault(snapshot: ClusterSnapshot, node: ClusterNode, fault: ComputeDriverError): Promise<boolean> {
    const place = placeOf(snapshot, node);
    const offer = offerOf(snapshot, node);
    const blocks = noRoom(fault, place, snapshot.place);
    if (offer === null || blocks === null) return false;
    return this.dataSource.transaction(async (tx) => {
      const tried = { zone: place.zone ?? offer.region, said: fault.message.slice(0, MAX_WORDS) };
      const ends = !hasReported(node) && (await this.nodes.endAttempt(tx, node, tried));
      const forMs = blockedForMs(snapshot.cloudProviderId);
      if (blocks !== 'nothing') await this.offers.block(tx, offer, blocks === 'zone' ? place.zone : null, forMs);
      return ends;
    });
  }

  /**
   * Finds another place for the nodes whose attempt is over, once nothing is left of that, and for those that were to be
   * asked for where others have just found no room. Answers what became of these, by node id; of others nothing. Where all
   * places are such, one that was not asked for is, unless this time another one like it has learnt that there is none.
   */
  async moveAll(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    driver: ComputeDriver,
    call: DriverContext,
    provisioning: Provisioning,
  ): Promise<Map<number, PromiseSettledResult<Moved>>> {
    const choices = new Choices(snapshot, this.offers, driver, call);
    const due: [ClusterNode, Choice][] = [];
    const stuck: ClusterNode[] = [];
    const moved = new Map<number, PromiseSettledResult<Moved>>();
    for (const node of nodes) {
      // A provider that does not tell its zones keeps only those from being made that are to go elsewhere.
      const [known] = await Promise.allSettled([choices.of(node)]);
      if (known.status === 'rejected') moved.set(node.node_id, known);
      else if (known.value === null) continue;
      else if (node.no_room !== null || nextZone(known.value) !== null) due.push([node, known.value]);
      else stuck.push(node);
    }
    const fruitless = new Map<boolean, PromiseSettledResult<Moved>>();
    await Promise.all(
      due.map(async ([node, choice]) => {
        const [result] = await Promise.allSettled([this.move(snapshot, node, choice, { driver, call, provisioning })]);
        moved.set(node.node_id, result);
        if (result.status === 'fulfilled' && result.value instanceof ComputeDriverError)
          fruitless.set(node.is_spot, result);
      }),
    );
    for (const { node_id, is_spot } of stuck) {
      const result = fruitless.get(is_spot);
      if (result) moved.set(node_id, result);
    }
    return moved;
  }

  private async move(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    choice: Choice,
    { driver, call, provisioning }: { driver: ComputeDriver; call: DriverContext; provisioning: Provisioning },
  ): Promise<Moved> {
    const zone = nextZone(choice);
    if (zone === null)
      return new ComputeDriverError('NO_ROOM', nowhere(choice, snapshot.machine.type, marketOf(node)), {
        kind: 'capacity',
        scope: 'region',
      });
    // A machine that was asked for may be there although its answer was lost, or have left something behind.
    if (node.asked_at !== null && (await driver.destroy(nodeRef(snapshot, node), call)) === 'going') return 'going';
    const token = this.bootstrapTokens.make({ token: node.token, attempt: node.attempt + 1 });
    const isCurrent = await provisioning.hold(async (tx) => {
      await this.nodes.beginAttempt(tx, node, {
        place: { ...choice.place, zone },
        tokenHash: agentTokenHash(token),
        registerWithinMs: provisioning.registerWithinMs,
      });
    });
    return isCurrent ? 'moved' : 'superseded';
  }
}

/** What is known of where nodes of a cluster may be made: asked for when a node needs it, and once for all. */
class Choices {
  private readonly blocked = new Map<boolean, Promise<Choice['blocked']>>();
  private zones: Promise<readonly string[]> | null = null;

  constructor(
    private readonly snapshot: ClusterSnapshot,
    private readonly offers: BlockedOffersRepository,
    private readonly driver: ComputeDriver,
    private readonly call: DriverContext,
  ) {}

  /** Null for a node that has its place. */
  async of(node: ClusterNode): Promise<Choice | null> {
    const offer = offerOf(this.snapshot, node);
    if (offer === null || (node.no_room === null && node.asked_at !== null)) return null;
    const place = placeOf(this.snapshot, node);
    const blocked = await this.blockedFor(offer);
    const isOpen = blocked !== 'all' && !(place.zone !== null && blocked.has(place.zone));
    if (node.no_room === null && isOpen) return null;
    return { place, blocked, tries: node.tries, zones: await this.zonesAt(place) };
  }

  private blockedFor(offer: RegionOffer): Promise<Choice['blocked']> {
    const known = this.blocked.get(offer.is_spot) ?? this.offers.zones(offer);
    this.blocked.set(offer.is_spot, known);
    return known;
  }

  /** A cluster is in one region and one network. */
  private zonesAt(place: Place): Promise<readonly string[]> {
    const { driver, snapshot, call } = this;
    this.zones ??= driver.zones ? driver.zones(place, call).then((own) => own.sort()) : Promise.resolve(snapshot.zones);
    return this.zones;
  }
}

function placeOf(snapshot: ClusterSnapshot, { place }: ClusterNode): Place {
  return place ?? snapshot.place;
}

/** Null where machines are not made in regions. */
function offerOf(snapshot: ClusterSnapshot, node: ClusterNode): RegionOffer | null {
  const { region } = placeOf(snapshot, node);
  if (region === null) return null;
  const { tenant_id, machine_type_id, is_spot } = node;
  return { tenant_id, credentials_conf_id: snapshot.credentialsConfId, region, machine_type_id, is_spot };
}
