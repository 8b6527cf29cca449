import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load as parse, loadAll } from 'js-yaml';

interface Resource {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
  spec?: { template?: { spec: { containers: Container[]; volumes: Named[] } } };
}

interface Named {
  name: string;
  persistentVolumeClaim?: { claimName: string };
}

interface Container extends Named {
  volumeMounts: { name: string; mountPath: string }[];
}

const docker = join(__dirname, '..', '..', 'docker');
const text = (...path: string[]) => readFileSync(join(docker, ...path), 'utf8');
const kustomization = (folder: string) =>
  parse(text(folder, 'kustomization.yaml')) as { resources: string[]; patches?: { patch: string }[] };

const resources = kustomization('kubernetes').resources.flatMap(
  (file) => loadAll(text('kubernetes', file)) as Resource[],
);
const patches = (kustomization('kubernetes-bucket').patches ?? []).map(({ patch }) => parse(patch) as Resource);
const nameOf = ({ kind, metadata }: Resource) => `${kind} ${metadata.name}`;

describe('kubernetes-bucket', () => {
  const users = resources.filter(({ spec }) =>
    spec?.template?.spec.volumes.some(({ persistentVolumeClaim: claim }) => claim?.claimName === 'platform-data'),
  );

  it('takes the shared volume from whatever uses it, and nothing else', () => {
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

  it('names a bucket, whose credentials are in the Secret', () => {
    const { data } = patches.find(({ kind }) => kind === 'ConfigMap')!;
    expect(Object.keys(data ?? {}).sort()).toEqual(['STORE', 'STORE_BUCKET']);
    const secret = parse(text('kubernetes', 'secret.example.yaml')) as { stringData: Record<string, string> };
    expect(secret.stringData).toHaveProperty('STORE_CREDENTIALS');
  });
});
