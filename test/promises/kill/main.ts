/** `npm run test:kill [-- --seed 1 --kills 20 --documents 300]`: the long form of the kill test, 3 to 4 minutes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { killRounds } from './kill-rounds.js';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '20' },
    documents: { type: 'string' },
  },
});
const kills = Number(values.kills);
const seed = Number(values.seed);
const folder = await mkdtemp(join(tmpdir(), 'millrace-kill-'));
try {
  await runs();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function runs(): Promise<void> {
  console.log(`seed ${seed}, ${kills} kills, Markdown of node_modules`);
  const verdict = await killRounds({
    folder,
    kills,
    seed,
    ...(values.documents !== undefined && { documents: Number(values.documents) }),
    say: (line) => console.log(line),
  });
  const { between, faults, failed, killed, undisturbed } = verdict;
  const checks = {
    [`at least ${Math.ceil(kills * 0.75)} kills between the first and the last commit (${between})`]:
      between >= Math.ceil(kills * 0.75),
    [`sound after every kill (${faults.length} faults)`]: faults.length === 0,
    [`sound at the end (${killed.ledger.length} ledger rows, ${killed.chunks.length} chunks)`]:
      killed.unsound.length === 0 && killed.chunks.length > 0,
    'equal to an undisturbed run': killed.digest === undisturbed.digest,
    [`no failed elements (${failed})`]: failed === 0,
  };
  for (const [what, holds] of Object.entries(checks)) console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  if (!Object.values(checks).every(Boolean)) process.exitCode = 1;
}
