import { settingsOf } from './dto/job-conf.dto';
import { buildRunSpec, type SpecInput } from './run-spec';

describe('buildRunSpec', () => {
  const built = (settings: object, sparkConfig: object = {}, change: Partial<SpecInput> = {}) =>
    buildRunSpec({
      snapshot: {
        job_conf_id: 1,
        name: 'job',
        job_type: 'SPARK_JOB',
        language: 'Python3',
        settings: settingsOf({ command: 'a.py', ...settings }),
      },
      arguments: null,
      conf: ['spark.c=3'],
      sparkConfig,
      maxParallelJobs: 1,
      accelerator: null,
      mounts: [],
      node: { role: 'single', cores: 2, memory_mb: 2048, master_url: null },
      killGraceMs: 1000,
      sqlIdleMinutes: 60,
      mavenRepository: 'https://mirror.example/maven2/',
      ...change,
    });
  const specOf = (settings: object, sparkConfig: object) => built(settings, sparkConfig).spec;

  it('orders the properties cluster, job, run, and writes all as key=value', () => {
    const { conf } = specOf({ conf: ['spark.b=2 = 3'] }, { conf: ['spark.a  1 2', 'spark.d=4'] });
    expect(conf).toEqual(['spark.a=1 2', 'spark.d=4', 'spark.b=2 = 3', 'spark.c=3']);
  });

  it('keeps blanks and line ends in values', () => {
    const { spec } = built({ conf: ['spark.b=\n\n'] }, { conf: ['spark.a= 1 '] }, { conf: ['spark.c= '] });
    expect(spec.conf).toEqual(['spark.a= 1 ', 'spark.b=\n\n', 'spark.c= ']);
  });

  it('separates the folder of an archive from its file, except for a URI that Spark reads itself', () => {
    const { spec, staged } = built(
      { archives: ['envs/a#b.zip#env', 'x.zip', 's3a://b/y.zip#y'] },
      { archives: ['/c.zip#c'] },
    );
    expect(spec.archives.map(({ alias, uri }) => alias ?? uri)).toEqual(['c', 'env', null, 's3a://b/y.zip#y']);
    expect(staged.filter(Boolean).map(({ path }) => path)).toEqual(['a.py', 'c.zip', 'envs/a#b.zip', 'x.zip']);
  });

  it('lists a keytab of the workspace after all other files, and passes a keytab of the node as a path', () => {
    const { spec, staged } = built({ keytab: '/secret/x.keytab', files: ['f'], jars: ['j.jar'] });
    expect(spec.keytab_file).toMatchObject({ kind: 'fetched', index: 3, name: 'x.keytab' });
    expect(staged[3]).toMatchObject({ kind: 'workspace', path: 'secret/x.keytab' });
    expect(specOf({ keytab: 'file:///etc/x.keytab' }, {})).toMatchObject({ keytab: '/etc/x.keytab' });
    expect(specOf({ keytab: 'file:///etc/x.keytab' }, {})).not.toHaveProperty('keytab_file');
  });

  it('sends normalized repositories, and the platform repository separately', () => {
    const spec = specOf(
      { repositories: ['HTTPS://Job.example:443/a/../m2'], packages: ['a:b:1'] },
      { repositories: ['https://cluster.example'], packages: ['c:d:2'] },
    );
    expect(spec).toMatchObject({
      packages: ['c:d:2', 'a:b:1'],
      repositories: ['https://cluster.example/', 'https://job.example/m2/'],
      maven_repository: 'https://mirror.example/maven2/',
    });
  });

  describe('driver memory', () => {
    const node = { role: 'single', cores: 2, memory_mb: 16_384, master_url: null } as const;
    const memory = (settings: object, sparkConfig: object = {}, change: Partial<SpecInput> = {}) => {
      const { spec } = built(settings, sparkConfig, { node, maxParallelJobs: 5, ...change });
      return [spec.driver_memory, spec.driver_memory_is_default];
    };

    it("defaults to the job's share of the node's memory", () => {
      expect(memory({})).toEqual(['3072m', true]);
      expect(memory({}, {}, { maxParallelJobs: 1 })).toEqual(['15360m', true]);
      expect(memory({ driver_memory: '1g' }, { conf: ['spark.driver.memory 2g'] })).toEqual(['1g', undefined]);
      expect(memory({}, { conf: ['spark.driver.memory= 2g '] })).toEqual(['2g', undefined]);
      const conf = ['spark.driver.memory=3g'];
      expect(memory({ driver_memory: '2GB' })).toEqual(['2g', undefined]);
      expect(memory({}, { conf: ['spark.driver.memory 2gb'] })).toEqual(['2g', undefined]);
      expect(memory({ conf }, { conf: ['spark.driver.memory 2g'] })).toEqual(['3g', undefined]);
      expect(memory({ conf }, {}, { conf: ['spark.driver.memory=4g'] })).toEqual(['4g', undefined]);
    });

    it('leaves room for turbo if tasks run in the driver', () => {
      const turbo = { accelerator: 'turbo' } as const;
      expect(memory({}, {}, turbo)).toEqual(['2048m', true]);
      const elsewhere = { ...node, role: 'master', master_url: 'spark://m:1' } as const;
      expect(memory({}, {}, { ...turbo, node: elsewhere })).toEqual(['3072m', true]);
      const { spec } = built({}, {}, { node, maxParallelJobs: 5, ...turbo });
      expect(spec.accelerator).toEqual({ kind: 'turbo', memory_mb: 3072 });
    });

    it('does not depend on the share of a GPU', () => {
      const { spec } = built({}, {}, { node, maxParallelJobs: 2, accelerator: 'cuda' });
      expect(spec.accelerator).toEqual({ kind: 'cuda', gpu_percent: 45 });
      expect(built({}).spec).not.toHaveProperty('accelerator');
    });
  });
});
