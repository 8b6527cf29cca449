import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { load as parse, loadAll } from 'js-yaml';

interface Resource {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: {
    selector?: { matchLabels?: Record<string, string> };
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}

interface Named {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  emptyDir?: { sizeLimit?: string };
}

interface PodSpec {
  containers: Container[];
  volumes?: Named[];
  topologySpreadConstraints?: unknown[];
}

interface Probe {
  httpGet: { path: string };
}

interface Container extends Named {
  image: string;
  imagePullPolicy: string;
  command: string[];
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  resources: Record<'requests' | 'limits', Record<string, string>>;
  securityContext: {
    allowPrivilegeEscalation: boolean;
    readOnlyRootFilesystem?: boolean;
    capabilities: { drop: string[] };
  };
  volumeMounts: { name: string; mountPath: string }[];
}

const docker = join(__dirname, '..', '..', 'docker');
const text = (...path: string[]) => readFileSync(join(docker, ...path), 'utf8');
const kustomization = (folder: string) =>
  parse(text(folder, 'kustomization.yaml')) as {
    resources: string[];
    images?: { name: string; newTag: string }[];
    patches?: { patch: string }[];
  };

const resourcesOf = (folder: string) =>
  kustomization(folder)
    .resources.filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => loadAll(text(folder, file)) as Resource[]);
const resources = resourcesOf('kubernetes');
const patches = (kustomization('kubernetes-bucket').patches ?? []).map(({ patch }) => parse(patch) as Resource);
const nameOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`;

describe('kubernetes-bucket', () => {
  const users = resources.filter(({ spec }) =>
    spec?.template?.spec.volumes?.some(({ persistentVolumeClaim: claim }) => claim?.claimName === 'platform-data'),
  );

  it('removes the shared volume from all its users, and changes nothing else', () => {
    expect(users.map(nameOf)).toHaveLength(3);
    expect(patches.map(nameOf).sort()).toEqual(
      ['ConfigMap platform', 'PersistentVolumeClaim platform-data', ...users.map(nameOf)].sort(),
    );
    const kept = resources.map(nameOf);
    for (const patch of patches) expect(kept).toContain(nameOf(patch));
    for (const user of users) {
      const patch = patches.find((other) => nameOf(other) === nameOf(user))!.spec!.template!.spec;
      const [container] = user.spec!.template!.spec.containers;
      const mount = container!.volumeMounts.find(({ name }) => name === 'data')!;
      expect(patch).toEqual({
        containers: [{ name: container!.name, volumeMounts: [{ mountPath: mount.mountPath, $patch: 'delete' }] }],
        volumes: [{ name: 'data', $patch: 'delete' }],
      });
    }
  });

  it('configures a bucket with credentials in the Secret', () => {
    const { data } = patches.find(({ kind }) => kind === 'ConfigMap')!;
    expect(Object.keys(data ?? {}).sort()).toEqual(['STORE', 'STORE_BUCKET']);
    const secret = parse(text('kubernetes', 'secret.example.yaml')) as { stringData: Record<string, string> };
    expect(secret.stringData).toHaveProperty('STORE_CREDENTIALS');
  });
});

describe('kubernetes', () => {
  const pods = [...resources, ...resourcesOf('kubernetes-worker-local')]
    .filter(({ spec }) => spec?.template)
    .map((resource) => ({ name: nameOf(resource), ...resource.spec!.template! }));
  const of = (name: string) => pods.find((pod) => pod.name === name)!.spec;

  it('migrates the database in a Job that all other pods wait for', () => {
    const { data } = resources.find(({ kind }) => kind === 'ConfigMap')!;
    expect(data?.['DATABASE_MIGRATE_ON_START']).toBe('false');
    expect(of('Job platform-migrate').containers[0]?.command.at(-1)).toBe('dist/migrate.js');
  });

  it('limits the resources and privileges of each pod', () => {
    expect(pods).toHaveLength(5);
    for (const { spec } of pods) {
      const [container] = spec.containers;
      const { resources: taken, securityContext } = container!;
      for (const part of ['requests', 'limits'] as const)
        expect(Object.keys(taken[part])).toEqual(expect.arrayContaining(['memory', 'ephemeral-storage']));
      expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
      if (container!.image === 'managed-spark') expect(securityContext.readOnlyRootFilesystem).toBe(true);
      for (const { emptyDir } of spec.volumes ?? []) if (emptyDir) expect(emptyDir.sizeLimit).toBeDefined();
      expect(container!.imagePullPolicy).toBe('IfNotPresent');
    }
  });

  it('spreads pods of a kind over machines, and keeps one during disruptions', () => {
    const disruption = resources.filter(({ kind }) => kind === 'PodDisruptionBudget');
    for (const kind of ['api', 'agents', 'worker']) {
      const { labels } = resources.find((one) => nameOf(one) === `Deployment platform-${kind}`)!.spec!.template!
        .metadata;
      expect(of(`Deployment platform-${kind}`).topologySpreadConstraints).toMatchObject([
        { labelSelector: { matchLabels: labels } },
      ]);
      expect(disruption.some(({ spec }) => isDeepStrictEqual(spec?.selector?.matchLabels, labels))).toBe(true);
    }
  });

  it('has probes that do not depend on Redis or other services', () => {
    const serving = pods.filter(({ name }) => name.startsWith('Deployment'));
    for (const { spec } of serving) {
      const { livenessProbe, readinessProbe } = spec.containers[0]!;
      expect([livenessProbe?.httpGet.path, readinessProbe?.httpGet.path]).toEqual(['/live', '/ready']);
    }
  });

  it('tags images with the version of the release', () => {
    const { version } = parse(readFileSync(join(docker, '..', 'package.json'), 'utf8')) as { version: string };
    const images = ['kubernetes', 'kubernetes-worker-local'].flatMap((folder) => kustomization(folder).images ?? []);
    expect(images).toEqual([
      { name: 'managed-spark', newTag: version },
      { name: 'managed-spark-worker-local', newTag: version },
    ]);
  });
});
