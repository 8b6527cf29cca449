import { basicCredentials, basicToken, bearerToken, type RoutedRequest } from './presented-token';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('basicCredentials', () => {
  it.each([
    ['ada@example.org:a.b:c', { username: 'ada@example.org', password: 'a.b:c' }],
    [':secret', { username: '', password: 'secret' }],
    ['ada:', { username: 'ada', password: '' }],
  ])('reads %j', (text, credentials) => {
    expect(basicCredentials(basic(text))).toEqual(credentials);
  });

  it.each([undefined, null, '', 'Bearer abc', 'Basic', 'Basic !!', basic('ada')])('finds none in %j', (header) => {
    expect(basicCredentials(header)).toBeNull();
  });
});

describe('the token of a request', () => {
  const request = (authorization: string, acceptsBasicAuth: boolean) =>
    ({ headers: { authorization }, operation: { acceptsBasicAuth } }) as RoutedRequest;

  it('is the password of HTTP Basic if the operation accepts it', () => {
    expect(basicToken(request(basic('ada:a.b.c'), true))).toBe('a.b.c');
    expect(basicToken(request(basic('ada:a.b.c'), false))).toBeNull();
    expect(bearerToken(request(basic('ada:a.b.c'), true))).toBeNull();
  });

  it('is a bearer token for every operation', () => {
    expect(bearerToken(request('Bearer a.b.c', true))).toBe('a.b.c');
    expect(basicToken(request('Bearer a.b.c', true))).toBeNull();
  });
});
