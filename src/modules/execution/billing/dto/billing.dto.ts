import { nameEnum } from '../../../../platform/kernel/dto/named-enums';
import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { About } from '../../../../platform/kernel/dto/schemas';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS } from '../../../foundation/reference-data';

const BILLINGS = nameEnum('BillingView', ['usage', 'invoice'], 'Which usage is shown.', {
  usage: 'all',
  invoice: 'what has a price',
});

export class BilledTenantsQuery {
  @Param.oneOf(BILLINGS, {
    default: 'usage',
    description: 'usage, or invoice, which excludes usage before the first price',
  })
  billing: string = 'usage';
}

export class BilledDateRangeQuery extends BilledTenantsQuery {
  @Param.uuids({ description: 'Only usage of these tenants, comma-separated; of every tenant if it is absent' })
  tenant_ids?: string[];
}

export class BilledClustersQuery extends BilledDateRangeQuery {
  @Param.someOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only usage of clusters of these providers, ignoring case',
  })
  cloud_providers?: string[];
}

export class BilledPartsQuery extends BilledClustersQuery {
  @Param.ids({ description: 'Only usage of these clusters' }) cluster_ids?: number[];
}

abstract class LinesQuery {
  @Param.uuids({ description: 'Only lines of these tenants, comma-separated; of every tenant if it is absent' })
  tenant_ids?: string[];
  @Param.someOf(CLOUD_PROVIDERS, {
    aliases: CLOUD_PROVIDER_ALIASES,
    description: 'Only lines of clusters of these providers, ignoring case',
  })
  cloud_providers?: string[];
  @Param.ids({ description: 'Only lines of these clusters' }) cluster_ids?: number[];
  @Param.ids({ description: 'Only lines of these machine types' }) machine_type_ids?: number[];
  @Param.text({
    description: 'Only lines of nodes with these labels: a compact JSON object, all of whose pairs must match',
    example: '{"team":"analytics"}',
  })
  labels?: string;
}

export class BilledUsageQuery extends LinesQuery {
  @Param.day({ optional: false, description: 'First day (UTC)' }) start_date: string;
  @Param.day({ optional: false, description: 'Last day (UTC), included' }) end_date: string;
}

export class BilledInvoiceQuery extends LinesQuery {
  @Param.day({ optional: false, description: 'Any day of the first month (UTC)' }) start_month_year: string;
  @Param.day({ optional: false, description: 'Any day of the last month (UTC), which is included' })
  end_month_year: string;
}

@About('A tenant whose nodes ran.')
export class BilledTenant {
  @Field.uuid({ description: 'Id of the tenant' }) tenant_id: string;
  @Field.text({ description: 'Name of the tenant when it was last billed' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

@About('The period in which nodes ran.')
export class BilledDateRangeRead {
  @Field.day({ description: 'First day (UTC) on which nodes ran' }) start_date: string;
  @Field.day({ description: 'Last day (UTC) on which nodes ran' }) end_date: string;
}

@About('A cluster whose nodes ran.')
export class BilledClusterRead {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name of the cluster when it was last billed' }) name: string;
  @Field.uuid({ description: 'The tenant to which the cluster belongs' }) tenant_id: string;
  @Field.text({ description: 'Name of the provider' }) cloud_provider: string;
}

@About('A machine type of nodes that ran.')
export class BilledMachineTypeRead {
  @Field.id() machine_type_id: number;
  @Field.text({ description: 'Name of the machine type when it was last billed' }) name: string;
  @Field.text({ description: 'Name of the provider' }) cloud_provider: string;
}

abstract class BilledLine {
  @Field.uuid({ description: 'The tenant whose nodes ran' }) tenant_id: string;
  @Field.text({ description: 'Name of the tenant' }) tenant_name: string;
  @Field.id() cluster_id: number;
  @Field.text() cluster_name: string;
  @Field.text({ description: 'Name of the provider' }) cloud_provider: string;
  @Field.id() machine_type_id: number;
  @Field.text({ description: 'Name of the machine type' }) machine_type: string;
  @Field.map({ values: 'string', description: 'Labels of the nodes' }) labels: Record<string, string>;
  @Field.int32({ description: 'Maximum number of nodes that ran at the same time' }) node_count: number;
  @Field.int64({ description: 'Seconds for which nodes ran, summed over all nodes and rounded half up' })
  running_seconds: number;
  @Field.number({ description: 'Compute units: hours times the price of the machine; at most six decimals' })
  ycu: number;
}

@About('Usage of one day, tenant, cluster, machine type and set of labels.')
export class BilledUsageRead extends BilledLine {
  @Field.day({ description: 'The day (UTC)' }) usage_date: string;
}

@About('Cost of one month, tenant, cluster, machine type, set of labels and unit price.')
export class BilledInvoiceRead extends BilledLine {
  @Field.day({ description: 'First day of the month (UTC)' }) month_year: string;
  @Field.number({ description: 'Price of one compute unit' }) unit_price: number;
  @Field.number({ description: 'Cost in the currency, rounded half up to its decimals' }) amount: number;
  @Field.text({ description: 'Currency of price and amount, as in ISO 4217' }) currency: string;
}
