import type { OutboundPolicy } from '../../../../libs/outbound-policy/outbound-policy';
import type { Config } from '../../../config/config';
import { CloudRegistrations } from './cloud-registrations';

/** Whether the worker may use the driver, which may have an endpoint of its own, for an environment with this endpoint. */
function isUsed(apiIsLocal: boolean, ofDriver: string | null, ofEnvironment: string | null): boolean {
  const config = { agent: { apiIsLocal } } as Config;
  const clouds = new CloudRegistrations(config, {} as OutboundPolicy);
  const never = () => Promise.reject(new Error('not to be made'));
  return clouds.of(ofDriver, never).disabled(ofEnvironment) === null;
}

describe('CloudRegistrations', () => {
  it('has no machines made that cannot reach the platform', () => {
    expect(isUsed(false, null, null)).toBe(true);
    expect(isUsed(false, null, 'https://pve.example.org:8006')).toBe(true);
    expect(isUsed(true, null, null)).toBe(false);
    expect(isUsed(true, null, 'https://pve.example.org:8006')).toBe(false);
    expect(isUsed(true, 'https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com', null)).toBe(false);
  });

  it('has them made where their provider is on the same machine as the platform', () => {
    expect(isUsed(true, 'http://127.0.0.1:5000', null)).toBe(true);
    expect(isUsed(true, null, 'https://127.0.0.1:8006')).toBe(true);
  });
});
