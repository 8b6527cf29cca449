import { AwsDriver } from '../../../../../libs/compute-drivers/aws/aws-driver';
import { AzureDriver } from '../../../../../libs/compute-drivers/azure/azure-driver';
import { GoogleDriver } from '../../../../../libs/compute-drivers/google/google-driver';
import { OciDriver } from '../../../../../libs/compute-drivers/oci/oci-driver';
import { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import type { ComputeDriver } from '../../../../../libs/compute-drivers/compute-driver';
import type { Config } from '../../../../config/config';
import { PermanentError } from '../../../../platform/background/workflows/workflow-definition';
import type { LocalConfinementService, LocalFolderService } from '../../../infrastructure/environments';
import { CLOUD_PROVIDER_ID } from '../../../foundation/reference-data';
import { endsSpot } from '../model/compute-support';
import type { CloudRegistrations } from './cloud-registrations';
import { Drivers } from './drivers';

describe('Drivers', () => {
  const create = jest.fn<Promise<ComputeDriver>, []>();
  const compute = { local: null, clouds: {}, onPremTrust: { ca: null, unverifiedHosts: [] } };
  const clouds = {
    registrationOf: () => ({
      disabledReason: () => null,
      unreachableReason: () => null,
      isolatesTenants: true,
      make: create,
    }),
  };
  const localFolder = { problem: null as string | null, isHeldElsewhere: jest.fn<Promise<boolean>, []>() };
  const drivers = new Drivers(
    { agent: {}, compute } as unknown as Config,
    {} as LocalConfinementService,
    localFolder as unknown as LocalFolderService,
    clouds as unknown as CloudRegistrations,
  );

  it.each([
    ['AWS', AwsDriver],
    ['Azure', AzureDriver],
    ['OCI', OciDriver],
    ['GCP', GoogleDriver],
  ] as const)('of %s stop spot machines if the API says so', (provider, Driver) => {
    const outbound = new OutboundPolicy({ schemes: ['https'], allowedClasses: [] });
    const driver: ComputeDriver = new Driver({ bootScript: () => '', outbound, endpoint: null, authority: null });
    const spot = { market: 'spot', type: 'any' } as const;
    expect(driver.canStop(spot)).toBe(!endsSpot(CLOUD_PROVIDER_ID[provider], null));
    expect(driver.canStop({ ...spot, market: 'on-demand' })).toBe(true);
  });

  it('creates a driver once, and tries again after a failure', async () => {
    const driver = { name: 'aws' } as ComputeDriver;
    create.mockRejectedValueOnce(new Error('not built')).mockResolvedValue(driver);
    const ask = () => drivers.forEnvironment(CLOUD_PROVIDER_ID.AWS, null);
    await expect(ask()).rejects.toThrow('not built');
    expect([await ask(), await ask()]).toEqual([driver, driver]);
    expect(create).toHaveBeenCalledTimes(2);
  });

  it('leaves local nodes to the worker that serves them, and refuses them if none does', async () => {
    localFolder.problem = 'not here';
    const ask = () => drivers.forEnvironment(CLOUD_PROVIDER_ID.OnPrem, 'local://');
    localFolder.isHeldElsewhere.mockResolvedValueOnce(true).mockResolvedValueOnce(false);
    await expect(ask()).rejects.toMatchObject({ code: 'LOCAL.ELSEWHERE', retryable: true, message: 'not here' });
    await expect(ask()).rejects.toEqual(new PermanentError('not here'));
    expect(drivers.serves(CLOUD_PROVIDER_ID.OnPrem, 'local://')).toBe(false);
    expect(await drivers.withoutCredentials()).toEqual([]);
  });
});
