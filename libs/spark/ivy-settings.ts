/** The official address of Maven Central. */
const MAVEN_CENTRAL = 'https://repo1.maven.org/maven2/';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/**
 * Returns the settings of Ivy, which resolves the packages of a run. It asks only this repository, while Spark's own settings name
 * several. The repositories that a run names come first.
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
