import { randomBytes } from 'node:crypto';
import type { ApiClient } from './harness/api-client';
import { createCluster, describeEstate, type Estate } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

const [SHORT, CONF] = ['hush-4711', `conf "${randomBytes(30).toString('base64')}"`];
const PEM = `-----BEGIN EC PRIVATE KEY-----\n${randomBytes(48).toString('base64')}\n-----END EC PRIVATE KEY-----\n`;

/** Prints the secrets that it sees, and digests that prove their values. */
const SCRIPT = `
import hashlib, json, os, sys, time
from pyspark import SparkContext
context = SparkContext.getOrCreate()
digest = lambda text: hashlib.sha256(text.encode()).hexdigest()
def sight(_):
    import hashlib, os
    return [hashlib.sha256(os.environ.get(name, "").encode()).hexdigest() for name in ("SHORT", "PEM")]
value = context.getConf().get("spark.test.conf")
print("DRIVER", *sight(0), digest(value), flush=True)
print("EXECUTOR", *context.parallelize([0], 1).map(sight).collect()[0], flush=True)
print("SAYS", os.environ["SHORT"], value, os.environ["PEM"], "END", flush=True)
for character in os.environ["SHORT"]:
    print(character, end="", flush=True)
    time.sleep(0.3)
print(".", flush=True)
os.system("env; cat /proc/self/environ; cat /proc/$PPID/environ | tr '\\\\0' '\\\\n'")
print(repr(os.environ["PEM"]), json.dumps(dict(os.environ)), os.environ["PEM"].replace("\\n", "\\r\\n  "), flush=True)
sys.stderr.write("TOLD " + os.environ["SHORT"] + "\\n")
context.setJobDescription("work with " + os.environ["PEM"])
context.parallelize([0], 1).count()
context.stop()
raise ValueError("not with " + os.environ["SHORT"])
`;

const digest = async (text: string) =>
  Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text))).toString('hex');
const stars = (text: string) => text.replace(/[^\n]/g, '*');

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let estate: Estate;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'job-secrets');
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'secrets');
  estate = await describeEstate(admin, platform.runtime.sparkVersion);
  await desk.upload('says.py', SCRIPT);
  const secret_type = 'ENVIRONMENT VARIABLE';
  await admin.post('/user/secret', { name: 'short', secret_type, value: SHORT });
  await admin.post('/tenant/secret', { name: 'short', secret_type, value: 'the tenant’s' });
  await admin.post('/tenant/secret', { name: 'pem', secret_type, value: PEM });
  const query = { workspace_id: desk.workspaceId };
  await admin.post('/workspace/secret', { name: 'conf', secret_type, value: CONF }, 200, { query });
});

afterAll(() => platform?.close());

const CLUSTERS = [
  ['PLATFORM', {}],
  ['STANDALONE', { engine_cluster_spark_config: { num_of_workers: 1 } }],
] as const;

describe.each(CLUSTERS)('a job of a %s', (cluster_type, fields) => {
  let cluster: number;

  beforeAll(async () => {
    const spark_config = {
      env_var: ['SHORT=open'],
      env_var_secret: { SHORT: 'short', PEM: 'pem' },
      conf: ['spark.test.conf open'],
      conf_secret: { 'spark.test.conf': 'conf' },
    };
    const name = cluster_type.toLowerCase();
    cluster = await createCluster(admin, estate, name, { cluster_type, ...fields, spark_config });
  });

  it('has the secrets of its cluster, and does not show them', async () => {
    const job = await desk.complete(cluster, `says-${cluster}`, {
      command: 'says.py',
      executor_memory: '512m',
      total_executor_cores: 1,
    });
    const id = Number(job.job_id);
    const [out, err, events] = await Promise.all([desk.log(id), desk.log(id, 'stderr'), desk.log(id, 'events')]);
    const [short, pem, conf] = await Promise.all([digest(SHORT), digest(PEM), digest(CONF)]);
    expect(out).toContain(`DRIVER ${short} ${pem} ${conf}\n`);
    expect(out).toContain(`EXECUTOR ${short} ${pem}\n`);
    expect(out).toContain(`SAYS ${stars(SHORT)} ${stars(CONF)} ${stars(PEM)} END\n${stars(SHORT)}.\n`);
    expect(out + err).toContain(`TOLD ${stars(SHORT)}`);
    expect(job).toMatchObject({ job_status: 'ERROR', reason: expect.stringContaining(`not with ${stars(SHORT)}`) });
    const lines = events
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const environment = lines.find(({ Event }) => Event === 'SparkListenerEnvironmentUpdate');
    expect(environment['Spark Properties']).toMatchObject({ 'spark.test.conf': '*********(redacted)' });
    expect(events).toContain('"work with ****');
    for (const secret of [SHORT, CONF, ...PEM.trimEnd().split('\n')]) {
      expect([out, err, events, JSON.stringify(job)].filter((text) => text.includes(secret))).toEqual([]);
    }
  });

  it('does not start if a secret is missing', async () => {
    await admin.put(`/cluster?cluster_id=${cluster}`, { spark_config: { env_var_secret: { GONE: 'no-such' } } });
    const job = await desk.complete(cluster, `gone-${cluster}`, { command: 'says.py' });
    expect(job).toMatchObject({
      job_status: 'ERROR',
      reason: expect.stringMatching(/The environment variable GONE cannot be set from the secret "no-such": neither /),
    });
    expect(await desk.log(Number(job.job_id))).toBe('');
  });
});
