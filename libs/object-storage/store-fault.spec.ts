import { storeFault } from './store-fault';

describe('storeFault', () => {
  it.each([
    [404, 'NoSuchBucket', 'BUCKET_NOT_FOUND', false],
    [404, 'ContainerNotFound', 'BUCKET_NOT_FOUND', false],
    [404, undefined, 'NOT_FOUND', false],
    [403, 'SignatureDoesNotMatch', 'INVALID_CREDENTIALS', false],
    [403, 'AuthorizationFailure', 'ACCESS_DENIED', false],
    [403, undefined, 'ACCESS_DENIED', false],
    [400, 'invalid_grant', 'INVALID_CREDENTIALS', false],
    [400, undefined, 'INVALID_REQUEST', false],
    [412, undefined, 'ALREADY_EXISTS', false],
    [409, 'BlobAlreadyExists', 'ALREADY_EXISTS', false],
    [400, 'InvalidBlockList', 'UNAVAILABLE', true],
    [503, 'SlowDown', 'UNAVAILABLE', true],
    [500, undefined, 'UNAVAILABLE', true],
    [501, 'NotImplemented', 'REFUSED', false],
    [418, 'Teapot', 'REFUSED', false],
    [undefined, 'ECONNREFUSED', 'UNAVAILABLE', true],
    [undefined, 'ETIMEDOUT', 'TIMEOUT', true],
    [undefined, 'ERR_ADDRESS_REFUSED', 'ADDRESS_REFUSED', false],
  ])('maps status %p with code %p to %s', (status, code, expected, retryable) => {
    expect(storeFault({ status, code, reason: '' }, [], null)).toMatchObject({ code: expected, retryable });
  });

  it('quotes the first line of the reason, without secrets and of bounded length', () => {
    const message = (reason: string) =>
      storeFault({ status: 403, code: undefined, reason }, ['s3cr3t', ''], null).message;
    expect(message('Key s3cr3t is not known\nTrace: s3cr3t')).toBe(
      'The object store denies access with this credential: Key *** is not known.',
    );
    expect(message('UnknownError')).toBe('The object store denies access with this credential.');
    expect(message('x'.repeat(2_000)).length).toBeLessThan(400);
  });
});
