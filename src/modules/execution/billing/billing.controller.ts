import { Controller, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Allow } from '../../../platform/kernel/auth/access';
import { PLATFORM_ROLES } from '../../../platform/kernel/auth/roles';
import { sendCsv, sendJson } from '../../../platform/http/file-response';
import { Responses, Operation } from '../../../platform/http/operation';
import { BillingService, type TableForm } from './billing.service';
import {
  BilledClusterRead,
  BilledClustersQuery,
  BilledDateRangeQuery,
  BilledDateRangeRead,
  BilledInvoiceQuery,
  BilledInvoiceRead,
  BilledMachineTypeRead,
  BilledPartsQuery,
  BilledTenant,
  BilledTenantsQuery,
  BilledUsageQuery,
  BilledUsageRead,
} from './dto/billing.dto';

const base = '/platform/billing';
const shared = { method: 'GET', tag: 'Billing', access: Allow.platform(PLATFORM_ROLES) } as const;
const AS_CSV = 'With `Accept: text/csv`, the response is CSV.';

@Controller()
export class BillingController {
  constructor(private readonly service: BillingService) {}

  @Operation({
    ...shared,
    path: `${base}/tenants`,
    id: 'listBilledTenants',
    summary: 'List the tenants whose nodes ran',
    description: 'Returns the tenants whose nodes ran, including deleted ones.',
    response: Responses.list(BilledTenant),
  })
  listBilledTenants(@Query() query: BilledTenantsQuery): Promise<BilledTenant[]> {
    return this.service.tenants(query);
  }

  @Operation({
    ...shared,
    path: `${base}/date/range`,
    id: 'getBilledDateRange',
    summary: 'Get the first and the last day (UTC) on which nodes ran; 404 if none ever did',
    description:
      'Returns the first and the last day (UTC) on which nodes of the tenants ran. If none ever did, the answer is 404.',
    response: Responses.one(BilledDateRangeRead),
  })
  getBilledDateRange(@Query() query: BilledDateRangeQuery): Promise<BilledDateRangeRead> {
    return this.service.dateRange(query);
  }

  @Operation({
    ...shared,
    path: `${base}/clusters`,
    id: 'listBilledClusters',
    summary: 'List the clusters whose nodes ran, including deleted ones',
    description: 'Returns the clusters whose nodes ran, including deleted ones.',
    response: Responses.list(BilledClusterRead),
  })
  listBilledClusters(@Query() query: BilledClustersQuery): Promise<BilledClusterRead[]> {
    return this.service.clusters(query);
  }

  @Operation({
    ...shared,
    path: `${base}/machine_types`,
    id: 'listBilledMachineTypes',
    summary: 'List the machine types of nodes that ran',
    description: 'Returns the machine types of nodes that ran.',
    response: Responses.list(BilledMachineTypeRead),
  })
  listBilledMachineTypes(@Query() query: BilledPartsQuery): Promise<BilledMachineTypeRead[]> {
    return this.service.machineTypes(query);
  }

  @Operation({
    ...shared,
    path: `${base}/labels`,
    id: 'listBilledLabels',
    summary: 'List the labels of nodes that ran: the values of each key',
    description: 'Returns an object with a list of values for each key that nodes had as a label.',
    response: Responses.textLists,
  })
  listBilledLabels(@Query() query: BilledPartsQuery): Promise<Record<string, string[]>> {
    return this.service.labels(query);
  }

  @Operation({
    ...shared,
    path: `${base}/usage`,
    id: 'getBilledUsage',
    summary: 'Get the usage by day (UTC), tenant, cluster, machine type and labels',
    description: `Returns a line for each day (UTC), tenant, cluster, machine type and set of labels on which nodes ran, between two days that are both included. Running nodes count until now, so lines of today grow. ${AS_CSV}`,
    response: Responses.table(BilledUsageRead),
  })
  async getBilledUsage(
    @Query() query: BilledUsageQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const form = formOf(request, response);
    await send(response, form, 'usage', this.service.usage(query, form));
  }

  @Operation({
    ...shared,
    path: `${base}/invoice`,
    id: 'getBilledInvoice',
    summary: 'Get the cost of the usage by month (UTC), tenant, cluster, machine type, labels and unit price',
    description: `Returns a line for each month (UTC), tenant, cluster, machine type, set of labels and unit price. The days of the dates are ignored. The operator configures the unit prices. ${AS_CSV}`,
    response: Responses.table(BilledInvoiceRead),
  })
  async getBilledInvoice(
    @Query() query: BilledInvoiceQuery,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const form = formOf(request, response);
    await send(response, form, 'invoice', await this.service.invoice(query, form));
  }
}

/** Returns `json`, unless the request prefers CSV. */
function formOf(request: Request, response: Response): TableForm {
  response.vary('Accept');
  return request.accepts(['json', 'csv']) === 'csv' ? 'csv' : 'json';
}

async function send(response: Response, form: TableForm, name: string, text: AsyncIterable<string>): Promise<void> {
  if (form === 'csv') await sendCsv(response, `${name}.csv`, text);
  else await sendJson(response, text);
}
