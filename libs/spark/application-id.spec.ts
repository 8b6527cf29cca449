import { applicationIdInLog, applicationIdOf } from './application-id';

describe('applicationIdOf', () => {
  it.each([
    ['local-1795230939786', 'local-1795230939786'],
    ['app-20240101120000-0001.inprogress', 'app-20240101120000-0001'],
    ['app-20240101120000-0001.zstd.inprogress', 'app-20240101120000-0001'],
    ['local-1795230939786.lz4', 'local-1795230939786'],
    ['eventlog_v2_app-20240101120000-0001', 'app-20240101120000-0001'],
    ['application_1700000000000_0001', 'application_1700000000000_0001'],
  ])('reads %s', (name, id) => {
    expect(applicationIdOf(name)).toBe(id);
  });

  it.each(['.local-1.inprogress.crc', 'notes.txt', ''])('finds no id in %j', (name) => {
    expect(applicationIdOf(name)).toBeNull();
  });
});

describe('applicationIdInLog', () => {
  it.each([
    [
      'INFO StandaloneSchedulerBackend: Connected to Spark cluster with app ID app-20240101120000-0001\n',
      'app-20240101120000-0001',
    ],
    ["Spark context available as 'sc' (master = local[2], app id = local-1795229804853).", 'local-1795229804853'],
    ['nothing here', null],
  ])('reads %j', (text, id) => {
    expect(applicationIdInLog(text)).toBe(id);
  });
});
