import { HealthController } from './health.controller';
import { type HealthService, packageVersion } from './health.service';

describe('GET /version', () => {
  it('returns the version of the service and the release of the API', () => {
    const controller = new HealthController({ version: packageVersion() } as HealthService);
    expect(controller.version()).toEqual({ version: packageVersion(), api_release: '2.10.1' });
  });
});
