import { assertNamed, takeBasicAsBearer } from './basic-token';

const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });

describe('HTTP Basic with a token', () => {
  it('becomes a bearer token and a name', () => {
    const request = basic('ada@example.org:a.b:c');
    expect(takeBasicAsBearer(request)).toBe('ada@example.org');
    expect(request.headers.authorization).toBe('Bearer a.b:c');
  });

  it.each(['', ':', 'ada'])('of %j leaves no token that anybody has', (text) => {
    const request = basic(text);
    expect(takeBasicAsBearer(request) ?? '').toBe('');
    expect(request.headers.authorization).not.toMatch(/^Bearer [^ ]*\..*\./);
  });

  it.each([undefined, 'Bearer abc', 'Basic', 'Basic !!'])('leaves %j as it is', (authorization) => {
    const request = { headers: { ...(authorization !== undefined && { authorization }) } };
    expect(takeBasicAsBearer(request)).toBeNull();
    expect(request.headers.authorization).toBe(authorization);
  });

  it('names the owner of the token', () => {
    expect(() => assertNamed({ username: 'ada' }, 'Ada')).not.toThrow();
    expect(() => assertNamed({ username: 'ada' }, 'bob')).toThrow('not one of this user');
    expect(() => assertNamed({ username: 'ada' }, '')).toThrow('not one of this user');
  });
});
