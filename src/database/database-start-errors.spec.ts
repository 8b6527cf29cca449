import { connectionError } from './database-start-errors';

const URL_WITH_PASSWORD = 'postgres://user:secret@db.example:5433/platform';
const failure = (code: string, message = 'it fails') => Object.assign(new Error(message), { code });

describe('connectionError', () => {
  it.each([
    ['28P01', 'DATABASE.LOGIN_REFUSED', false],
    ['28000', 'DATABASE.LOGIN_REFUSED', false],
    ['3D000', 'DATABASE.MISSING', false],
    ['ECONNREFUSED', 'DATABASE.UNREACHABLE', true],
    ['57P03', 'DATABASE.UNREACHABLE', true],
  ])('names code, variable and host for %s, and says whether it is transient', (cause, code, isTransient) => {
    const found = connectionError(URL_WITH_PASSWORD, failure(cause));
    expect(found).toMatchObject({ isTransient, error: { code, help: { variable: 'DATABASE_URL' } } });
    expect(found.error.message).toContain('db.example:5433');
    expect(found.error.message).not.toContain('secret');
  });

  it('has the errors of all addresses of a host', () => {
    const cause = new AggregateError([failure('ECONNREFUSED', 'no one'), failure('ECONNREFUSED', 'no other')]);
    expect(connectionError(URL_WITH_PASSWORD, cause).error.message).toContain('no one, no other');
  });
});
