import type { OutboundPolicy } from '../../../../../libs/outbound-policy/outbound-policy';
import type { Config } from '../../../../config/config';
import { CloudRegistrations } from './cloud-registrations';

/** Whether machines of the driver, which may have an endpoint of its own, are made for an environment with this endpoint. */
function areMade(apiIsLocal: boolean, ofDriver: string | null, ofEnvironment: string | null): boolean {
  const config = { agent: { apiIsLocal } } as Config;
  const clouds = new CloudRegistrations(config, {} as OutboundPolicy);
  const never = () => Promise.reject(new Error('not to be made'));
  return clouds.of(ofDriver, never).cutOff(ofEnvironment) === null;
}

describe('CloudRegistrations', () => {
  it('has no machines made that cannot reach the platform', () => {
    expect(areMade(false, null, null)).toBe(true);
    expect(areMade(false, null, 'https://pve.example.org:8006')).toBe(true);
    expect(areMade(true, null, null)).toBe(false);
    expect(areMade(true, null, 'https://pve.example.org:8006')).toBe(false);
    expect(areMade(true, 'https://vpce-1.ec2.eu-west-1.vpce.amazonaws.com', null)).toBe(false);
  });

  it('has them made where their provider is on the same machine as the platform', () => {
    expect(areMade(true, 'http://127.0.0.1:5000', null)).toBe(true);
    expect(areMade(true, null, 'https://127.0.0.1:8006')).toBe(true);
  });

  it('removes those that were made, whether or not others could reach the platform', () => {
    const clouds = new CloudRegistrations({ agent: { apiIsLocal: true } } as Config, {} as OutboundPolicy);
    expect(clouds.of(null, () => Promise.reject(new Error('not to be made'))).disabled()).toBeNull();
  });
});
