import { expect, test } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.js';
import { killRounds } from './kill-rounds.js';

// The long form, 20 kills over all documents, is `npm run test:kill`.
test(
  'runs killed at random moments leave a sound store, and in the end the same as an undisturbed one',
  { timeout: 120_000 },
  async () => {
    const said: string[] = [];
    const { between, faults, failed, killed, undisturbed } = await killRounds({
      folder: await temporaryFolder(),
      kills: 4,
      seed: 7,
      documents: 110,
      say: (line) => said.push(line),
    });
    expect(faults, said.join('\n')).toEqual([]);
    expect(between, said.join('\n')).toBeGreaterThanOrEqual(2);
    expect(killed.unsound).toEqual([]);
    expect(killed.chunks.length).toBeGreaterThan(300);
    expect(killed.chunks).toEqual(undisturbed.chunks);
    expect(failed).toBe(0);
  },
);
