/** Returns a Hadoop or Hive file such as core-site.xml. Values are not escaped, because some tests put markup into them. */
export function configurationXml(properties: Record<string, string>): string {
  const elements = Object.entries(properties).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<configuration>${elements.join('\n')}</configuration>`;
}
