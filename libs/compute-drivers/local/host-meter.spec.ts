import { statfsSync } from 'node:fs';
import { cpus, hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { HostMeter } from './host-meter';

jest.mock('node:os', () => ({
  ...jest.requireActual('node:os'),
  cpus: jest.fn(),
  freemem: () => 30,
  totalmem: () => 100,
}));

/** Simulates two processors with this busy and idle time since the start, milliseconds. */
function uptime(busyMs: number, idleMs: number): void {
  const times = { user: busyMs / 4, nice: 0, sys: busyMs / 4, idle: idleMs / 2, irq: 0 };
  const cpu = { model: '', speed: 0, times };
  jest.mocked(cpus).mockReturnValue([cpu, cpu]);
}

describe('HostMeter', () => {
  it('reports the processor use since the previous measurement', async () => {
    uptime(1_000_000, 1000);
    const meter = new HostMeter(tmpdir());
    uptime(1_000_250, 1750);
    expect(await meter.measure()).toMatchObject({ name: hostname(), cores: 2, cpuUsage: 0.25 });
    uptime(1_001_250, 1750);
    expect(await meter.measure()).toMatchObject({ cpuUsage: 1 });
    expect(await meter.measure()).toMatchObject({ cpuUsage: 0, memoryBytes: 100, memoryUsedBytes: 70 });
  });

  it('measures the file system of a directory that does not exist yet', async () => {
    uptime(0, 0);
    const { blocks, bsize } = statfsSync(tmpdir());
    const { diskBytes, diskUsedBytes } = await new HostMeter(join(tmpdir(), 'not', 'there', 'yet')).measure();
    expect(diskBytes).toBe(blocks * bsize);
    expect(diskUsedBytes).toBeGreaterThan(0);
    expect(diskUsedBytes).toBeLessThanOrEqual(diskBytes);
  });
});
