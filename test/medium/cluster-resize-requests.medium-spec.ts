import { Estate } from './harness/estate';
import { People } from './harness/people';
import { setClusterStatus } from './harness/statuses';
import { soon, wholeApi } from './harness/test-api';

// Real: the whole API and PostgreSQL. Left out: the worker, so nobody adds or removes nodes.
describe('a request to resize a cluster', () => {
  const api = wholeApi();
  const people = new People(api);
  let estate: Estate;
  let clusterId: number;

  beforeAll(async () => {
    estate = new Estate(people, await people.as(await people.user([['PLATFORM ADMIN', null]]), await people.tenant()));
    clusterId = await estate.id('cluster', await estate.parts(), { min_instances: 1, max_instances: 2 });
    await setClusterStatus(api.database.manager, clusterId, 'RUNNING');
  });

  const resize = (body: object) => estate.caller.call('POST', '/cluster/resize', { cluster_id: clusterId, ...body });

  /** The audit events of resizes that were done. */
  const events = async () =>
    (await estate.caller.call('GET', '/admin/audit/events?operation=resizeCluster&outcome=done')).body.data as object[];

  it('wakes the worker, and leaves the changed bounds in the audit log', async () => {
    const woken = api.notifications('scaling');
    const answer = await resize({ min_instances: 2, max_instances: 6 });
    expect(answer).toMatchObject({
      status: 200,
      body: { cluster_status: 'RUNNING', min_instances: 2, max_instances: 6, instances: 0, instances_to_add: 2 },
    });
    await soon(() => Promise.resolve(expect(woken).toContain(String(clusterId))));
    expect((await estate.get('cluster', clusterId)).body).toMatchObject({ min_instances: 2, max_instances: 6 });
    expect(await events()).toMatchObject([
      {
        outcome: 'done',
        subject: { cluster_id: clusterId },
        changes: [
          {
            record: `cluster ${clusterId}`,
            fields: [
              { field: 'min_instances', before: '1', after: '2' },
              { field: 'max_instances', before: '2', after: '6' },
            ],
          },
        ],
      },
    ]);
  });

  it('is done once for the same Idempotency-Key', async () => {
    const before = (await events()).length;
    const send = async () => {
      const headers = {
        ...{ authorization: `Bearer ${estate.caller.token}`, 'content-type': 'application/json' },
        'idempotency-key': 'resize-1',
      };
      const body = JSON.stringify({ cluster_id: clusterId, max_instances: 7 });
      const answer = await fetch(api.urlOf('/cluster/resize'), { method: 'POST', headers, body });
      return [answer.status, await answer.json()] as [number, object];
    };
    const first = await send();
    expect(first).toEqual([200, expect.objectContaining({ max_instances_before: 6, max_instances: 7 })]);
    expect(await send()).toEqual(first);
    expect(await events()).toHaveLength(before + 1);
  });

  it.each([
    ['a number that no cluster may have', { max_instances: 31 }, 'REQUEST.INVALID'],
    ['a minimum above the maximum', { min_instances: 5, max_instances: 4 }, 'CLUSTER.INSTANCES_INVALID'],
    ['no number', {}, 'REQUEST.EMPTY_UPDATE'],
  ])('is refused with %s', async (_what, body, code) => {
    expect(await resize(body)).toMatchObject({ status: 400, body: { error_code: code } });
  });

  it('is refused while the cluster is stopped, with what to do instead', async () => {
    await setClusterStatus(api.database.manager, clusterId, 'STOPPED');
    expect(await resize({ min_instances: 1 })).toMatchObject({
      status: 409,
      body: {
        error_code: 'CLUSTER.INVALID_STATE',
        error_message: expect.stringContaining('Start it with startCluster') as string,
      },
    });
  });
});
