import { Field, Param } from '../../../../platform/kernel/dto/fields';
import { CLOUD_PROVIDER_ALIASES, CLOUD_PROVIDERS } from '../../../foundation/reference-data';

const BILLINGS = ['usage', 'invoice'] as const;

export class BilledTenantsQuery {
  @Param.oneOf(BILLINGS, { default: 'usage', description: 'invoice excludes usage before the first price' })
  billing: string = 'usage';
}

export class BilledDateRangeQuery extends BilledTenantsQuery {
  @Param.uuids({ description: 'Comma-separated ids; every tenant if absent' }) tenant_ids?: string[];
}

export class BilledClustersQuery extends BilledDateRangeQuery {
  @Param.someOf(CLOUD_PROVIDERS, { aliases: CLOUD_PROVIDER_ALIASES }) cloud_providers?: string[];
}

export class BilledPartsQuery extends BilledClustersQuery {
  @Param.ids() cluster_ids?: number[];
}

abstract class LinesQuery {
  @Param.uuids({ description: 'Comma-separated ids; every tenant if absent' }) tenant_ids?: string[];
  @Param.someOf(CLOUD_PROVIDERS, { aliases: CLOUD_PROVIDER_ALIASES }) cloud_providers?: string[];
  @Param.ids() cluster_ids?: number[];
  @Param.ids() machine_type_ids?: number[];
  @Param.text({
    description: 'A compact JSON object; every pair must match',
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

export class BilledTenant {
  @Field.uuid() tenant_id: string;
  @Field.text({ description: 'Name at the latest billing' }) name: string;
  @Field.text({ nullable: true }) description: string | null;
}

export class BilledDateRangeRead {
  @Field.day() start_date: string;
  @Field.day() end_date: string;
}

export class BilledClusterRead {
  @Field.id() cluster_id: number;
  @Field.text({ description: 'Name at the latest billing' }) name: string;
  @Field.uuid() tenant_id: string;
  @Field.text() cloud_provider: string;
}

export class BilledMachineTypeRead {
  @Field.id() machine_type_id: number;
  @Field.text({ description: 'Name at the latest billing' }) name: string;
  @Field.text() cloud_provider: string;
}

abstract class BilledLine {
  @Field.uuid() tenant_id: string;
  @Field.text() tenant_name: string;
  @Field.id() cluster_id: number;
  @Field.text() cluster_name: string;
  @Field.text() cloud_provider: string;
  @Field.id() machine_type_id: number;
  @Field.text() machine_type: string;
  @Field.map({ values: 'string' }) labels: Record<string, string>;
  @Field.int32({ description: 'Maximum number of nodes that ran at the same time' }) node_count: number;
  @Field.int64({ description: 'Sum over all nodes, rounded half up' }) running_seconds: number;
  @Field.number({ description: 'Compute units: hours times the price of the machine; at most six decimals' })
  ycu: number;
}

export class BilledUsageRead extends BilledLine {
  @Field.day({ description: 'In UTC' }) usage_date: string;
}

export class BilledInvoiceRead extends BilledLine {
  @Field.day({ description: 'First day of the month' }) month_year: string;
  @Field.number({ description: 'Price of one compute unit' }) unit_price: number;
  @Field.number({ description: 'Rounded half up to the decimals of the currency' }) amount: number;
  @Field.text({ description: 'ISO 4217' }) currency: string;
}
