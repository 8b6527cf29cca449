import { machineName, requestId } from './google-names';

const TOKEN = '0b1e3c1e-9d27-4f06-8f37-1d0d0f7a3c55';

describe('names at Google Cloud', () => {
  it.each([TOKEN, 'A token_with what names lack', 'x'.repeat(200)])('form the machine name of %s', (token) => {
    const name = machineName(token, 12);
    expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(machineName(token, 12)).toBe(name);
    expect(machineName(`${token}x`, 12)).not.toBe(name);
  });

  it('contain a token that is a valid name', () => {
    expect(machineName(TOKEN, 2)).toBe(`node-${TOKEN}-2`);
  });

  it('give each attempt a request id of its own, and the same one each time', () => {
    expect(requestId(TOKEN, 1)).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(requestId(TOKEN, 1)).toBe(requestId(TOKEN, 1));
    expect(requestId(TOKEN, 2)).not.toBe(requestId(TOKEN, 1));
  });
});
