// Writes the list of domains in docs/architecture/layout.md from src/modules/layers.json: npm run architecture
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const PAGE = join(root, 'docs', 'architecture', 'layout.md');
const [BEGIN, END] = ['<!-- layers: npm run architecture -->', '<!-- end of layers -->'];

/**
 * Returns the page with the list of domains from layers.json.
 * @returns {string}
 * @throws if the page has lost the comments between which the list stands
 */
export function architecturePage() {
  /** @type {{layer: string, purpose: string, domains: {name: string, purpose: string, subjects?: string[]}[]}[]} */
  const layers = JSON.parse(readFileSync(join(root, 'src', 'modules', 'layers.json'), 'utf8'));
  const list = layers.flatMap(({ layer, purpose, domains }) => [
    `- **${layer}**: ${purpose}`,
    ...domains.map(({ name, purpose: what, subjects }) => {
      const divided = subjects ? ` (${subjects.map((subject) => `\`${subject}\``).join(', ')})` : '';
      return `  - \`${name}\`: ${what}${divided}`;
    }),
  ]);
  const page = readFileSync(PAGE, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin)
    throw new Error(`${PAGE} needs the comments ${BEGIN} and ${END} around the list of domains.`);
  return `${page.slice(0, begin)}${BEGIN}\n\n${list.join('\n')}\n\n${page.slice(end)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) writeFileSync(PAGE, architecturePage());
