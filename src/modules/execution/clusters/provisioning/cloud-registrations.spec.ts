import type { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import type { Config } from '../../../../config/config';
import { CloudRegistrations } from './cloud-registrations';

/** True if the driver, which may have its own endpoint, creates machines for an environment with this endpoint. */
function createsMachines(apiIsLocal: boolean, ofDriver: string | null, ofEnvironment: string | null): boolean {
  const config = { agent: { apiIsLocal } } as Config;
  const clouds = new CloudRegistrations(config, {} as OutboundPolicy);
  const never = () => Promise.reject(new Error('not to be made'));
  return clouds.registrationOf(ofDriver, never).unreachableReason(ofEnvironment) === null;
}

describe('CloudRegistrations', () => {
  it('creates no machines that cannot reach the platform', () => {
    expect(createsMachines(false, null, null)).toBe(true);
    expect(createsMachines(false, null, 'https://pve.example.org:8006')).toBe(true);
    expect(createsMachines(true, null, null)).toBe(false);
    expect(createsMachines(true, null, 'https://pve.example.org:8006')).toBe(false);
    expect(createsMachines(true, 'https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com', null)).toBe(false);
  });

  it('creates machines if their provider runs on the same machine as the platform', () => {
    expect(createsMachines(true, 'http://127.0.0.1:5000', null)).toBe(true);
    expect(createsMachines(true, null, 'https://127.0.0.1:8006')).toBe(true);
  });

  it('can still remove machines if new ones could not reach the platform', () => {
    const clouds = new CloudRegistrations({ agent: { apiIsLocal: true } } as Config, {} as OutboundPolicy);
    expect(clouds.registrationOf(null, () => Promise.reject(new Error('not to be made'))).disabledReason()).toBeNull();
  });
});
