import { readReferenceDataFiles } from './reference-data-files';

describe('the reference data files', () => {
  const { rows, version, hash } = readReferenceDataFiles();

  it('fill every table with valid rows whose references exist', () => {
    const empty = Object.entries(rows).filter(([, list]) => list.length === 0);
    expect(empty).toEqual([]);
    expect(version).toBeGreaterThanOrEqual(1);
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('keep the ids that clients rely on', () => {
    const machine = (id: number) => rows.machine_types.find((row) => row.machine_type_id === id)?.name;
    expect([0, 694, 1486].map(machine)).toEqual(['a2-highgpu-1g', 'c2d-highcpu-4', 'Onprem-S-4']);
    const zone = (id: number) => rows.availability_zones.find((row) => row.availability_zone_id === id)?.name;
    expect([0, 75, 116, 303].map(zone)).toEqual(['asia-east1-a', 'us-central1-a', 'ca-central-1', 'us-east-1a']);
  });

  it.each([
    ['n1-highcpu-16', 5.44],
    ['n1-highcpu-96', 32.64],
    ['n2-highcpu-16', 5.6],
    ['n1-standard-4', 2.5],
    ['c2d-highcpu-4', 1.8],
    ['Standard_F16s_v2', 7.2],
  ])('price %s at %d compute units', (name, price) => {
    expect(rows.machine_types.find((row) => row.name === name)?.machine_price_ycu).toBe(price);
  });

  it('use each name once per provider', () => {
    for (const list of [rows.machine_types, rows.availability_zones, rows.disk_types]) {
      const names = list.map((row) => `${row.cloud_provider_id} ${row.name}`);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('hold label rules that are valid regular expressions', () => {
    for (const { key_regex, value_regex } of rows.cloud_label_patterns) {
      expect(() => [new RegExp(key_regex, 'u'), new RegExp(value_regex, 'u')]).not.toThrow();
    }
  });
});
