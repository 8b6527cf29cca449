import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';

interface Service {
  image?: string;
  command?: string[];
  environment?: Record<string, string>;
  networks?: string[];
  ports?: string[];
  env_file?: { path: string; required: boolean }[];
  read_only?: boolean;
  cap_drop?: string[];
  security_opt?: string[];
  logging?: { options: Record<string, string> };
}

const file = join(__dirname, '..', '..', 'docker', 'compose.yaml');
const compose = load(readFileSync(file, 'utf8'), { schema: CORE_SCHEMA.withTags(mergeTag) }) as {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
};

describe('compose.yaml', () => {
  it.each(['redis', 'postgres'])(
    'allows only the processes of the platform to connect to %s, which itself can connect to nothing',
    (name) => {
      const { networks = ['default'], ports } = compose.services[name] ?? {};
      expect(ports).toBeUndefined();
      for (const network of networks) {
        expect(compose.networks[network]?.internal).toBe(true);
        const others = Object.entries(compose.services).filter(([, service]) => service.networks?.includes(network));
        expect(others.map(([other]) => other).sort()).toEqual(['agents', 'api', 'postgres', 'redis', 'worker']);
      }
    },
  );

  it('passes Redis its password without showing it in the list of processes', () => {
    const { command = [], environment = {} } = compose.services['redis'] ?? {};
    const secret = '${REDIS_PASSWORD:?set it in docker/.env}';
    const [name] = Object.entries(environment).find(([, value]) => value === secret) ?? [];
    expect(command.join('\n')).not.toContain('REDIS_PASSWORD');
    const configuration = /<<(\w+)\n([\s\S]*)\n\1/.exec(command.join('\n'))?.[2];
    expect(configuration?.split('\n')).toContain(`requirepass $$${name}`);
    for (const pod of ['api', 'agents', 'worker'])
      expect(compose.services[pod]?.environment?.['REDIS_URL']).toBe(`redis://:${secret}@redis:6379`);
  });

  it('allows docker/.env to set every variable of the platform except those that the containers rely on', () => {
    for (const name of ['api', 'agents', 'worker']) {
      const { env_file: files, environment } = compose.services[name] ?? {};
      expect(files).toEqual([{ path: '.env', required: true }]);
      expect(environment).toMatchObject({ HOST: '0.0.0.0', PORT: '8080', WORKER_HEALTH_PORT: '8081' });
    }
  });

  it('limits the logs of all containers, and the privileges of the API', () => {
    for (const { logging } of Object.values(compose.services)) {
      expect(logging?.options).toMatchObject({ 'max-size': '10m', 'max-file': '5' });
    }
    for (const name of ['api', 'agents'])
      expect(compose.services[name]).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    for (const { security_opt: options } of Object.values(compose.services))
      expect(options).toEqual(['no-new-privileges:true']);
  });
});
