import { QueryFailedError } from 'typeorm';
import { fromDatabaseError } from './database-error';
import { toErrorResponse } from './error-response';

const coded = (code: string) => Object.assign(new Error('message of the driver'), { code });

/** Returns what a client receives: status, code, and the seconds after which to try again. */
function responseTo(thrown: unknown) {
  const { status, body, fault } = toErrorResponse(thrown, 'id', false);
  return { status, code: body.error_code, retryAfter: body.details['retry_after_seconds'], fault };
}

describe('an error of the database', () => {
  const gone = [
    ...['08000', '08003', '08006', '08P01', '25006', '25P03', '40003'],
    ...['53000', '53100', '53200', '53300', '57P01', '57P02', '57P03', '57P05'],
    ...['EAI_AGAIN', 'ECONNABORTED', 'ECONNREFUSED', 'ECONNRESET', 'EHOSTDOWN', 'EHOSTUNREACH'],
    ...['ENETDOWN', 'ENETRESET', 'ENETUNREACH', 'ENOTFOUND', 'EPIPE', 'ETIMEDOUT'],
  ].map((code) => [code, coded(code)] as const);
  const lost = [
    'Connection terminated',
    'Connection terminated unexpectedly',
    'Connection terminated due to connection timeout',
    'Client has encountered a connection error and is not queryable',
    'Client was closed and is not queryable',
  ].map((words) => [words, new Error(words)] as const);

  it.each([...gone, ...lost])('%s means that the database cannot be reached', (_what, error) => {
    const unreachable = { status: 503, code: 'DATABASE.UNAVAILABLE', retryAfter: 5, fault: 'ours' };
    expect(responseTo(error)).toEqual(unreachable);
    expect(responseTo(new QueryFailedError('SELECT 1', [], error))).toEqual(unreachable);
  });

  it.each(['40001', '40P01', '55P03'])('%s is contention, which is no fault', (code) => {
    const contended = { status: 503, code: 'DATABASE.BUSY', retryAfter: 1, fault: 'load' };
    expect(responseTo(coded(code))).toEqual(contended);
    expect(responseTo(new QueryFailedError('SELECT 1', [], coded(code)))).toEqual(contended);
  });

  it.each([
    ['a statement that took too long', coded('57014')],
    ['a pool without a free connection', new Error('timeout exceeded when trying to connect')],
  ])('%s means that the database is busy', (_what, error) => {
    expect(responseTo(error)).toEqual({ status: 503, code: 'DATABASE.BUSY', retryAfter: 1, fault: 'ours' });
  });

  it.each([
    ['a wrong statement', coded('42601')],
    ['an aborted transaction', coded('25P02')],
    ['a file that is missing', coded('ENOENT')],
    ['an error with an unknown message', new Error('constructor')],
    ['a code that is a number', Object.assign(new Error('words'), { code: 53_100 })],
    ['a bug', new TypeError('x is not a function')],
    ['nothing', null],
    ['a text', 'Connection terminated'],
  ])('%s is an unexpected error', (_what, thrown) => {
    expect(fromDatabaseError(thrown)).toBeNull();
    expect(responseTo(thrown).status).toBe(500);
  });
});
