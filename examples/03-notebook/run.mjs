import { Client } from 'managed-spark';

const workspace = new Client().workspace('demo');
const name = await workspace.defineNotebook('examples/03-notebook/sevens.ipynb', { cluster: 'demo-spark-3.5.9' });

const notebook = await workspace.notebooks.start(name);
try {
  await notebook.waitUntilRunning();
  for await (const cell of notebook.runCells()) console.log(cell.text.trim() || cell.value);
} finally {
  // The kernel holds a slot of the cluster until it is stopped.
  await notebook.stop();
}

const { cells } = JSON.parse(await (await workspace.notebooks.export(name)).text());
console.log('Stored output:', cells.at(-1).outputs[0].data['text/plain']);
