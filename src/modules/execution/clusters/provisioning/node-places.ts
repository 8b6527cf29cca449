import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import {
  type ComputeDriver,
  ComputeDriverError,
  type DriverContext,
} from '../../../../../libs/compute-drivers/compute-driver';
import type { Place } from '../../../../../libs/compute-drivers/place';
import { type Tx, inTransaction } from '../../../../platform/kernel/persistence/sql';
import { agentTokenHash, BootstrapTokens } from '../nodes/bootstrap-tokens';
import { ClusterNodesRepository } from '../model/cluster-nodes.repository';
import { type ClusterNode, hasReported } from '../model/entities/cluster-node.entity';
import { BlockedOffersRepository, type RegionOffer } from './blocked-offers.repository';
import { type ClusterSnapshot, marketOf, nodeRef } from './cluster-snapshot';
import { blockedForMs, type PlacementOptions, nextZone, scopeToBlock, noCapacityMessage } from './node-zones';

/** Maximum length of a provider's message that is kept with a node for each zone, in characters. */
const MAX_ANSWER_LENGTH = 500;

export interface Provisioning {
  /**
   * Writes with the cluster locked. Returns false, and writes nothing, once another operation has replaced this one.
   */
  whileCurrent(write: (tx: Tx) => Promise<void>): Promise<boolean>;
  /** Time in which the agent of a machine requested now must register, milliseconds. */
  registrationTimeoutMs: number;
}

/** The result of moving a node to another place. `going`: the provider still removes the previous machine. */
export type RelocationResult = 'relocated' | 'going' | 'superseded' | ComputeDriverError;

/** Finds other places for nodes if their provider has no capacity in the present one. */
@Injectable()
export class NodePlaces {
  constructor(
    private readonly dataSource: DataSource,
    private readonly nodes: ClusterNodesRepository,
    private readonly offers: BlockedOffersRepository,
    private readonly bootstrapTokens: BootstrapTokens,
  ) {}

  /**
   * Handles a fault of the node's machine. Blocks the offer for the tenant for some minutes if capacity is missing.
   * Returns true if the attempt is over, so that {@link relocateAll} must find another place. A node whose agent has
   * reported stays where its disk is.
   */
  async handleFault(snapshot: ClusterSnapshot, node: ClusterNode, fault: ComputeDriverError): Promise<boolean> {
    const place = placeOf(snapshot, node);
    const offer = offerOf(snapshot, node);
    const scope = scopeToBlock(fault, place, snapshot.place);
    if (offer === null || scope === null) return false;
    return inTransaction(this.dataSource, async (tx) => {
      const tried = { zone: place.zone ?? offer.region, answer: fault.message.slice(0, MAX_ANSWER_LENGTH) };
      const attemptEnds = !hasReported(node) && (await this.nodes.endAttempt(tx, node, tried));
      const blockedMs = blockedForMs(snapshot.cloudProviderId);
      if (scope !== 'nothing') await this.offers.block(tx, offer, scope === 'zone' ? place.zone : null, blockedMs);
      return attemptEnds;
    });
  }

  /**
   * Moves nodes to another place: those whose attempt is over, once nothing is left of it, and those whose offer is
   * blocked before their first request. Returns the results by node id, and nothing for other nodes. If all places are
   * blocked, a node without a request keeps its place, unless another node of its market just failed for lack of
   * capacity.
   */
  async relocateAll(
    snapshot: ClusterSnapshot,
    nodes: readonly ClusterNode[],
    driver: ComputeDriver,
    call: DriverContext,
    provisioning: Provisioning,
  ): Promise<Map<number, PromiseSettledResult<RelocationResult>>> {
    const finder = new PlacementFinder(snapshot, this.offers, driver, call);
    const due: [ClusterNode, PlacementOptions][] = [];
    const unplaceable: ClusterNode[] = [];
    const results = new Map<number, PromiseSettledResult<RelocationResult>>();
    for (const node of nodes) {
      // If the provider cannot list its zones, only the nodes that must move fail.
      const [options] = await Promise.allSettled([finder.optionsFor(node)]);
      if (options.status === 'rejected') results.set(node.node_id, options);
      else if (options.value === null) continue;
      else if (node.no_room !== null || nextZone(options.value) !== null) due.push([node, options.value]);
      else unplaceable.push(node);
    }
    const failureByMarket = new Map<boolean, PromiseSettledResult<RelocationResult>>();
    await Promise.all(
      due.map(async ([node, options]) => {
        const [result] = await Promise.allSettled([
          this.relocate(snapshot, node, options, { driver, call, provisioning }),
        ]);
        results.set(node.node_id, result);
        if (result.status === 'fulfilled' && result.value instanceof ComputeDriverError)
          failureByMarket.set(node.is_spot, result);
      }),
    );
    for (const { node_id, is_spot } of unplaceable) {
      const result = failureByMarket.get(is_spot);
      if (result) results.set(node_id, result);
    }
    return results;
  }

  private async relocate(
    snapshot: ClusterSnapshot,
    node: ClusterNode,
    options: PlacementOptions,
    { driver, call, provisioning }: { driver: ComputeDriver; call: DriverContext; provisioning: Provisioning },
  ): Promise<RelocationResult> {
    const zone = nextZone(options);
    if (zone === null)
      return new ComputeDriverError('NO_ROOM', noCapacityMessage(options, snapshot.machine.type, marketOf(node)), {
        kind: 'capacity',
        scope: 'region',
      });
    // A requested machine may exist although the response was lost, or may have left resources behind.
    if (node.asked_at !== null && (await driver.destroy(nodeRef(snapshot, node), call)) === 'going') return 'going';
    const token = this.bootstrapTokens.create({ token: node.token, attempt: node.attempt + 1 });
    const isCurrent = await provisioning.whileCurrent(async (tx) => {
      await this.nodes.beginAttempt(tx, node, {
        place: { ...options.place, zone },
        tokenHash: agentTokenHash(token),
        registrationTimeoutMs: provisioning.registrationTimeoutMs,
      });
    });
    return isCurrent ? 'relocated' : 'superseded';
  }
}

/** Finds the possible places of a cluster's nodes. Queries on demand, and once per cluster. */
class PlacementFinder {
  private readonly blocked = new Map<boolean, Promise<PlacementOptions['blocked']>>();
  private zones: Promise<readonly string[]> | null = null;

  constructor(
    private readonly snapshot: ClusterSnapshot,
    private readonly offers: BlockedOffersRepository,
    private readonly driver: ComputeDriver,
    private readonly call: DriverContext,
  ) {}

  /** Returns null for a node that keeps its place. */
  async optionsFor(node: ClusterNode): Promise<PlacementOptions | null> {
    const offer = offerOf(this.snapshot, node);
    if (offer === null || (node.no_room === null && node.asked_at !== null)) return null;
    const place = placeOf(this.snapshot, node);
    const blocked = await this.blockedFor(offer);
    const isOpen = blocked !== 'all' && !(place.zone !== null && blocked.has(place.zone));
    if (node.no_room === null && isOpen) return null;
    return { place, blocked, tries: node.tries, zones: await this.zonesAt(place) };
  }

  private blockedFor(offer: RegionOffer): Promise<PlacementOptions['blocked']> {
    const options = this.blocked.get(offer.is_spot) ?? this.offers.zones(offer);
    this.blocked.set(offer.is_spot, options);
    return options;
  }

  /** A cluster is in one region and one network, so its zones are read once. */
  private zonesAt(place: Place): Promise<readonly string[]> {
    const { driver, snapshot, call } = this;
    this.zones ??= driver.zones ? driver.zones(place, call).then((own) => own.sort()) : Promise.resolve(snapshot.zones);
    return this.zones;
  }
}

function placeOf(snapshot: ClusterSnapshot, { place }: ClusterNode): Place {
  return place ?? snapshot.place;
}

function offerOf(snapshot: ClusterSnapshot, node: ClusterNode): RegionOffer | null {
  const { region } = placeOf(snapshot, node);
  if (region === null) return null;
  const { tenant_id, machine_type_id, is_spot } = node;
  return { tenant_id, credentials_conf_id: snapshot.credentialsConfId, region, machine_type_id, is_spot };
}
