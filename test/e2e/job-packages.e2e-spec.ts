import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveOnLoopback } from '../fakes/http/loopback-server';
import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, startCluster } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { serveSharedRepository } from './harness/maven-repository';
import { SharedPlatform } from './harness/shared-platform';

/** Prints for each package whether its resource is on the class path. */
const SCRIPT = `
import sys
from pyspark import SparkContext
loader = SparkContext.getOrCreate()._jvm.Thread.currentThread().getContextClassLoader()
for name in sys.argv[1:]:
    print(name, loader.getResource(name + ".txt") is not None, flush=True)
`;

interface MavenRepository {
  url: string;
  /** Requested paths. */
  requests: string[];
  stop: () => Promise<void>;
}

let platform: SharedPlatform;
let central: MavenRepository;
let own: MavenRepository;
let admin: ApiClient;
let desk: JobDesk;
let cluster: number;

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'job-packages');
  central = await serveMaven(['greeting'], platform.mavenPort);
  own = await serveMaven(['secret-sauce']);
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'packages');
  await desk.upload('look.py', SCRIPT);
  cluster = await createCluster(admin, await describeEstate(admin, platform.runtime.sparkVersion), 'packages');
  await startCluster(admin, cluster);
});

afterAll(async () => {
  await platform?.close();
  await Promise.all([central?.stop(), own?.stop()]);
});

const look = (name: string, fields: object): Promise<Json> =>
  desk.complete(cluster, name, { command: 'look.py', arguments: 'greeting secret-sauce', ...fields });

describe('packages of a job', () => {
  it("come from the platform's Maven repository", async () => {
    const job = await look('of-central', { packages: ['com.example:greeting:1.0'] });
    expect([job.job_status, job.reason]).toEqual(['DONE', 'The application completed.']);
    // Ivy prints its report first.
    expect(await desk.log(job.job_id)).toMatch(/\ngreeting True\nsecret-sauce False\n$/);
    expect(central.requests).toContain('/maven/com/example/greeting/1.0/greeting-1.0.jar');
  });

  it('that no repository has end the job with their names', async () => {
    const job = await look('of-nowhere', { packages: ['com.example:absent:2.0', 'com.example:greeting:1.0'] });
    expect([job.job_status, job.reason_code]).toEqual(['ERROR', 'DEPENDENCY_UNRESOLVED']);
    expect(job.reason).toContain('com.example#absent;2.0');
    expect(central.requests.some((path) => path.includes('/absent/2.0/'))).toBe(true);
  });

  it('come from a repository that an administrator has listed, until it is removed', async () => {
    const fields = { packages: ['com.example:secret-sauce:1.0'], repositories: [own.url] };
    const body = { name: 'of-own', cluster_id: cluster, command: 'look.py', ...fields };
    const options = { json: { ...body } };
    await admin.expectError('POST', `${desk.path}/job/conf`, options, 400, 'JOB_CONF.REPOSITORY_NOT_ALLOWED');
    expect(own.requests).toEqual([]);
    const listed = await admin.post('/dependency-repository', { name: 'own', url: own.url });
    const conf = await desk.describe(cluster, 'of-own', { ...body, arguments: 'greeting secret-sauce' });
    const job = await desk.done(await desk.submit(conf));
    expect(await desk.log(job.job_id)).toMatch(/\ngreeting False\nsecret-sauce True\n$/);
    const query = { dependency_repository_id: Number(listed.dependency_repository_id) };
    expect((await admin.request('DELETE', '/dependency-repository', { query })).status).toBe(201);
    const again = { json: { job_conf_id: conf } };
    await admin.expectError('POST', `${desk.path}/job`, again, 409, 'JOB.REPOSITORY_NOT_ALLOWED');
  });

  it('never come from a repository that a properties file names', async () => {
    const settings = `spark.jars.repositories ${own.url}\nspark.jars.ivySettings /dev/null\nspark.test.other 1\n`;
    await desk.upload('more.properties', settings);
    const before = own.requests.length;
    const job = await look('of-file', {
      packages: ['com.example:secret-sauce:1.0'],
      properties_file: ['more.properties'],
    });
    expect([job.job_status, job.reason_code]).toEqual(['ERROR', 'DEPENDENCY_UNRESOLVED']);
    expect(own.requests.length).toBe(before);
    const log = await desk.log(job.job_id, 'stderr');
    for (const name of ['spark.jars.repositories', 'spark.jars.ivySettings'])
      expect(log).toContain(`The Spark property ${name} is ignored: packages come from the repositories that`);
  });
});

/** Serves a Maven repository of jars without classes, each with one file of the artifact's name. */
async function serveMaven(artifacts: readonly string[], port?: number): Promise<MavenRepository> {
  const folder = mkdtempSync(join(tmpdir(), 'maven-'));
  const files = new Map<string, Buffer>();
  for (const artifact of artifacts) {
    const jar = join(folder, `${artifact}.jar`);
    const program = 'import sys, zipfile; zipfile.ZipFile(sys.argv[1], "w").writestr(sys.argv[2] + ".txt", "")';
    execFileSync('python3', ['-c', program, jar, artifact]);
    const base = `/maven/com/example/${artifact}/1.0/${artifact}-1.0`;
    files.set(`${base}.jar`, readFileSync(jar));
    const coordinates = `<groupId>com.example</groupId><artifactId>${artifact}</artifactId><version>1.0</version>`;
    files.set(`${base}.pom`, Buffer.from(`<project><modelVersion>4.0.0</modelVersion>${coordinates}</project>`));
  }
  rmSync(folder, { recursive: true });
  const requests: string[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request.url ?? '');
    const file = files.get(request.url ?? '');
    response.writeHead(file ? 200 : 404, { 'content-length': file?.length ?? 0 });
    response.end(request.method === 'HEAD' ? undefined : file);
  };
  const { url, stop } = await (port === undefined ? serveOnLoopback(listener) : serveSharedRepository(port, listener));
  return { url: `${url}/maven/`, requests, stop };
}
