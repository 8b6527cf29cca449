import { type IncomingMessage } from 'node:http';
import { declarePathToken, moveTokenToHeader } from './path-tokens';

const request = (url: string, headers: Record<string, string> = {}) => ({ url, headers }) as unknown as IncomingMessage;

describe('a token in a path', () => {
  beforeAll(() => declarePathToken('/thing/{thing_id}/ws/{key}/{token}', 'token'));

  it('is moved to the header', () => {
    const incoming = request('/api/v1/thing/7/ws/a_session/se%2Bcret?x=1', { authorization: 'Bearer other' });
    moveTokenToHeader(incoming);
    expect(incoming.url).toBe('/api/v1/thing/7/ws/a_session/-?x=1');
    expect(incoming.headers.authorization).toBe('Bearer se+cret');
  });

  it('is moved even if its encoding is invalid', () => {
    const incoming = request('/thing/7/ws/a_session/%E0%A4%A');
    moveTokenToHeader(incoming);
    expect(incoming.url).toBe('/thing/7/ws/a_session/-');
  });

  it.each([
    ['/thing/7/WS/a_session/secret', '/thing/7/WS/-'],
    ['/thing/7/ws//a_session//secret', '/thing/7/ws/-'],
    ['/thing/7//./ws/secret', '/thing/7//./ws/-'],
    ['/thing/7/ws/secret?x=1', '/thing/7/ws/-?x=1'],
    ['/thing/7/%77s/a_session/secret', '/thing/7/%77s/-'],
    ['/thing/7/%2577s%2fa_session%252Fsecret', '/thing/7/%2577s%2f-'],
    ['/thing/7/6/ws/a_session/secret', '/thing/7/6/ws/-'],
    ['/thing/7/ws/a_session/more/secret', '/thing/7/ws/-'],
    ['http://host/thing/7/wS/secret', 'http://host/thing/7/wS/-'],
  ])('is removed from the malformed path %s', (url, left) => {
    const incoming = request(url);
    moveTokenToHeader(incoming);
    expect([incoming.url, incoming.headers]).toEqual([left, {}]);
  });

  it.each(['/thing/7/ws', '/thing/7/ws/', '/other?next=/thing/7/ws/a/b', '/thing/7/wss/a/b', '/%', '/things/ws'])(
    'is not removed from %s',
    (url) => {
      const incoming = request(url);
      moveTokenToHeader(incoming);
      expect([incoming.url, incoming.headers]).toEqual([url, {}]);
    },
  );

  it('must be the last part of its path', () => {
    expect(() => declarePathToken('/a/{token}/b', 'token')).toThrow('last part');
  });
});
