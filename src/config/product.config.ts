import type { EnvReader } from './env-reader';

export type ProductConfig = ReturnType<typeof readProductConfig>;

export function readProductConfig(reader: EnvReader) {
  const env = reader.section('Product');
  return {
    name: env.string('PRODUCT_NAME', {
      default: 'PLATFORM',
      pattern: /^[A-Za-z][A-Za-z0-9_]{0,31}$/,
      meaning: 'a letter followed by at most 31 letters, digits or underscores',
      readBy: ['API', 'worker'],
      description: 'Name of the product, which the API uses wherever its specification says `PLATFORM`.',
    }),
    logLevel: env.oneOf('LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
      default: 'info',
      readBy: ['API', 'worker'],
      description: "Lowest level that is written to the process's own log.",
    }),
  };
}
