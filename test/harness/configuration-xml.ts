/** A file of Hadoop or Hive, such as core-site.xml. Values stand there as they are: some tests put markup into them. */
export function configurationXml(properties: Record<string, string>): string {
  const elements = Object.entries(properties).map(
    ([name, value]) => `<property><name>${name}</name><value>${value}</value></property>`,
  );
  return `<configuration>${elements.join('\n')}</configuration>`;
}
