import type { UnitPrice } from '../../../../config/billing.config';
import type { MachineTypeInfo } from '../../../foundation/reference-data';
import { type ClusterShape, instanceBounds } from '../model/node-plan';
import type { ClusterCost } from './dto/cluster-check.dto';

/** Returns what the nodes cost per hour while they run. Spot machines are counted like others, as they are billed. */
export function clusterCost(shape: ClusterShape, machine: MachineTypeInfo, price: UnitPrice | null): ClusterCost {
  const { min, max } = instanceBounds(shape);
  const masters = shape.clusterType === 'CLUSTER' ? 1 : 0;
  const [fewest, most] = [min + masters, max + masters];
  const units = (nodes: number): number => rounded(nodes * machine.machine_price_ycu);
  const amount = (nodes: number): number | null =>
    price === null ? null : rounded(units(nodes) * Number(price.price));
  return {
    min_nodes: fewest,
    max_nodes: most,
    min_ycu: units(fewest),
    max_ycu: units(most),
    currency: price?.currency ?? null,
    unit_price: price?.price ?? null,
    min_amount: amount(fewest),
    max_amount: amount(most),
  };
}

function rounded(value: number): number {
  return Math.round(value * 1_000_000) / 1_000_000;
}
