/** Where Maven publishes what it calls Maven Central. */
const MAVEN_CENTRAL = 'https://repo1.maven.org/maven2/';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Settings of Ivy, which resolves the packages of a run: from one repository, where Spark's own would ask others, too. The
 * repositories that a run names come before it.
 */
export function ivySettings(repository: string = MAVEN_CENTRAL): string {
  const root = repository.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
  return `<ivysettings>
  <settings defaultResolver="central"/>
  <resolvers>
    <ibiblio name="central" m2compatible="true" root="${root}"/>
  </resolvers>
</ivysettings>
`;
}
