import { eventually } from '../harness/eventually';
import type { ApiClient, Json } from './harness/api-client';
import { createCluster, describeEstate, destroyCluster, startCluster } from './harness/estate';
import { JobDesk } from './harness/jobs';
import { SharedPlatform } from './harness/shared-platform';

const SCRIPT = `
import os, time
from shapes.areas import area

def serve(request):
    print("asked", request)
    if request == "sum":
        return spark.range(1000).selectExpr("sum(id)").first()[0]
    if request == "fail":
        return area(None)
    if request == "nan":
        return float("nan")
    if request == "sleep":
        time.sleep(600)
    if request in ("own", "stop"):
        from pyspark.sql import SparkSession
        SparkSession.builder.getOrCreate().stop()
        return request == "own" and SparkSession.builder.appName("own").getOrCreate().range(5).count()
    if request == "exit":
        os._exit(3)
    if isinstance(request, dict):
        return {"area": area(request["side"])}
    return request
`;
const AREAS = 'def area(side):\n    return side * side\n';

let platform: SharedPlatform;
let admin: ApiClient;
let desk: JobDesk;
let clusterId: number;

const FIELDS = {
  job_type: 'PLATFORM_FUNCTIONS',
  platform_functions_project_path: 'project',
  platform_functions_script_path: 'project/serve.py',
  platform_functions_function_name: 'serve',
  platform_functions_request_timeout_sec: 15,
  platform_functions_max_request_concurrency: 2,
};

beforeAll(async () => {
  platform = await SharedPlatform.join('e2e', 'functions');
  admin = await platform.admin();
  desk = await JobDesk.open(admin, 'functions');
  await desk.upload('project/serve.py', SCRIPT);
  await desk.upload('project/shapes/areas.py', AREAS);
  await desk.upload('project/broken.py', 'raise RuntimeError("not today")\n');
  const estate = await describeEstate(admin, platform.runtime.sparkVersion);
  clusterId = await createCluster(admin, estate, 'small');
  await startCluster(admin, clusterId);
});

afterAll(async () => {
  if (clusterId) await destroyCluster(admin, clusterId);
  await platform?.close();
});

const invoke = (id: number, body: unknown, status = 200): Promise<Json> =>
  admin.post(`${desk.path}/job/${id}/invoke`, body, status);

/** Returns the function's answer; retries, because on a busy machine Spark may need longer than the timeout of one call. */
const answered = (id: number, body: unknown): Promise<Json> =>
  eventually(
    async () => {
      const answer = await admin.request('POST', `${desk.path}/job/${id}/invoke`, { json: body });
      return answer.status === 504 ? null : answer;
    },
    { timeoutMs: 180_000, what: 'an answer of Spark' },
  );

/** Returns the number of requests sent to the job. */
async function sent(id: number): Promise<number> {
  const [queue] = await platform.sql<{ last: number }>('SELECT last::int FROM run_request_queues WHERE run_id = $1', [
    id,
  ]);
  return queue?.last ?? 0;
}

describe('a function', () => {
  it('answers calls with JSON, or with the reason of a failure', async () => {
    const id = await desk.start(clusterId, 'areas', FIELDS);
    expect((await invoke(id, 1, 409)).error_code).toBe('FUNCTION.NOT_RUNNING');
    await desk.reached(id, ['RUNNING']);
    expect(await invoke(id, { side: 3 })).toEqual({ area: 9 });
    expect(await invoke(id, [1, 'two', null])).toEqual([1, 'two', null]);
    expect(await answered(id, 'sum')).toMatchObject({ status: 200, body: 499_500 });
    const failed = await invoke(id, 'fail', 422);
    expect(failed).toMatchObject({ error_code: 'FUNCTION.FAILED', details: { type: 'TypeError' } });
    expect(failed.details.lines.join('\n')).toContain('shapes/areas.py:2 in area: return side * side');
    expect(await invoke(id, 'nan', 422)).toMatchObject({ details: { type: 'TypeError' } });
    const before = await sent(id);
    const slow = invoke(id, 'sleep', 504);
    // The slow call must have its slot before the others are sent.
    await eventually(async () => (await sent(id)) > before);
    const full = eventually(async () => {
      const answers = await Promise.all(
        [1, 2, 3].map((n) => admin.request('POST', `${desk.path}/job/${id}/invoke`, { json: n })),
      );
      return answers.some(({ status }) => status === 429);
    });
    expect([(await slow).error_code, await full]).toEqual(['FUNCTION.TIMEOUT', true]);
    expect(await invoke(id, { side: 4 })).toEqual({ area: 16 });
    expect(await desk.log(id, 'stdout')).toMatch(/^invocation [\w-]{36}: ok after \d+ ms$/m);
    expect(await invoke(id, 'exit', 409)).toMatchObject({ error_code: 'CALL.ENDED' });
    const { job_status: status, exit_code: exit } = await desk.ended(id);
    expect([status, exit]).toEqual(['ERROR', 3]);
  });

  it('may start its own session, and ends with a reason when that is stopped', async () => {
    const id = await desk.start(clusterId, 'own', FIELDS);
    await desk.reached(id, ['RUNNING']);
    expect(await answered(id, 'own')).toMatchObject({ status: 200, body: 5 });
    expect(await invoke(id, { side: 2 })).toEqual({ area: 4 });
    expect(await invoke(id, 'stop')).toBe(false);
    expect(await desk.ended(id)).toMatchObject({
      job_status: 'ERROR',
      reason: expect.stringContaining('its Spark session was stopped'),
    });
  });

  it('ends by itself when nobody calls it, and with a reason when it cannot start', async () => {
    const idle = { ...FIELDS, platform_functions_idle_timeout_sec: 1 };
    await desk.reached(await desk.start(clusterId, 'idle', idle), ['DONE']);
    const broken = { ...FIELDS, platform_functions_script_path: 'project/broken.py' };
    expect(await desk.complete(clusterId, 'broken', broken)).toMatchObject({
      job_status: 'ERROR',
      reason: expect.stringContaining('could not be imported: RuntimeError: not today'),
    });
    const nobody = { ...FIELDS, platform_functions_requirements: 'no-such-package-of-anybody==99.99' };
    expect(await desk.complete(clusterId, 'requirements', nobody)).toMatchObject({
      job_status: 'ERROR',
      reason: expect.stringContaining('requirements of the function could not be installed'),
    });
  });
});
