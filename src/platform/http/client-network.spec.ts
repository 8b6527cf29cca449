import { clientNetwork } from './client-network';

describe('clientNetwork', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['192.0.2.1:50000', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:c000:201', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::ffff', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]:50000', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['no address', 'unknown'],
    ['1.2.3.4.5', 'unknown'],
    [undefined, 'unknown'],
  ])('for %s is %s', (address, network) => {
    expect(clientNetwork(address)).toBe(network);
  });
});
