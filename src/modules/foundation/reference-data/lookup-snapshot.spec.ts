import { setProductName } from '../../../platform/kernel/product/product-name';
import { type DatedRows, renderLookups } from './lookup-snapshot';
import { readReferenceDataFiles } from './reference-data-files';

function currentRows(): DatedRows {
  const validity = { from_date: '2026-01-01T00:00:00.000Z', to_date: 'infinity' };
  return Object.fromEntries(
    Object.entries(readReferenceDataFiles().rows).map(([name, list]) => [
      name,
      list.map((row) => ({ ...row, ...validity })),
    ]),
  ) as unknown as DatedRows;
}

describe('renderLookups', () => {
  afterEach(() => setProductName('PLATFORM'));

  it('renders a machine type with everything it refers to', () => {
    const { responses, current } = renderLookups(currentRows());
    expect(responses.machineTypes.find(({ name }) => name === 'g5.xlarge')).toEqual({
      machine_type_id: expect.any(Number),
      cloud_provider: { cloud_provider_id: 1, name: 'AWS', description: expect.any(String) },
      name: 'g5.xlarge',
      machine_architecture_type: { machine_architecture_type_id: 0, machine_architecture_type: 'x86_64' },
      vCPUs: 4,
      memory: '16 GiB',
      has_cuda: true,
      gpu_model: 'NVIDIA A10G',
      gpus: 1,
      gpu_memory: '24 GB GDDR6',
      cpu_model: [],
      cpu_min_frequency_GHz: [],
      cpu_max_frequency_GHz: [],
      has_local_disk: true,
      local_disk_size_GB: 250,
      local_num_of_disks: 1,
      local_disk_bus_type: { local_disk_bus_type_id: 1, local_disk_bus_type: 'NVME' },
      local_disk_throughput_MB: null,
      machine_price_ycu: 2.6,
      from_date: '2026-01-01T00:00:00.000Z',
      to_date: 'infinity',
    });
    expect(current.machineTypes.get(1)).toMatchObject({
      memoryGib: 14.4,
      categoryId: 0,
      category: 'compute_optimized',
      info: { memory: '14.4 GiB', has_spot_instance_support: true },
    });
    expect(current.machineTypes.get(1486)?.info.has_spot_instance_support).toBe(false);
  });

  it('renders end_date for a storage type and no validity for a Git credential pattern', () => {
    const { responses } = renderLookups(currentRows());
    expect(responses.storageTypes[0]).toHaveProperty('end_date', 'infinity');
    expect(responses.storageTypes[0]).not.toHaveProperty('to_date');
    expect(responses.gitCredentialPatterns[0]).not.toHaveProperty('from_date');
    expect(responses.gitCredentialPatterns[0]?.git_provider).toEqual({
      git_provider_id: 1,
      name: 'GitHub',
      description: expect.any(String),
    });
  });

  it("uses the product's name", () => {
    setProductName('Acme');
    const { responses } = renderLookups(currentRows());
    expect(responses.clusterTypes[0]?.name).toBe('Acme');
    expect(responses.sparkComputeTypes[0]?.name).toBe('Acme');
    expect(responses.sparkJobTypes.map(({ name }) => name)).toContain('Acme_FUNCTIONS');
    expect(responses.sparkJobTypeLangs.map(({ spark_job_type }) => spark_job_type.name)).toContain('Acme_FUNCTIONS');
    expect(responses.workflowTypes[0]?.queue_name).toBe('acme.workflows.usi.start');
    expect(responses.sparkInfraVersions[0]).toHaveProperty('acme_functions_support');
  });

  it('refuses a row whose provider is not current', () => {
    const rows = currentRows();
    rows.cloud_providers = rows.cloud_providers.filter(({ name }) => name !== 'GCP');
    expect(() => renderLookups(rows)).toThrow('row 0 of cloud_providers');
  });
});
