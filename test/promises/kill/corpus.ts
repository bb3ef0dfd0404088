import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '../../support/repository.js';

/** A copy of the Markdown of every package in `node_modules`, to change as the rounds go. */
export interface Corpus {
  readonly root: string;
  readonly size: number;
  /** Changes about one file in seven, adds one and removes one. */
  change(random: () => number): Promise<void>;
}

export async function copyCorpus(root: string, most = Infinity): Promise<Corpus> {
  const from = join(repositoryRoot, 'node_modules');
  const all = (await readdir(from, { recursive: true })).filter((path) => path.endsWith('.md')).sort();
  const step = Math.max(1, Math.ceil(all.length / most));
  let paths = all.filter((_, index) => index % step === 0);
  for (const path of paths) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await copyFile(join(from, path), join(root, path));
  }
  let added = 0;
  return {
    root,
    get size() {
      return paths.length;
    },
    change: async (random) => {
      const gone = paths[Math.floor(random() * paths.length)]!;
      await rm(join(root, gone));
      paths = paths.filter((path) => path !== gone);
      for (const path of paths) {
        if (random() > 1 / 7) continue;
        const paragraphs = (await readFile(join(root, path), 'utf8')).split('\n\n');
        const at = Math.floor(random() * paragraphs.length);
        // A paragraph taken away, or one put in: later chunks move, earlier ones stay.
        if (random() < 0.5 && paragraphs.length > 1) paragraphs.splice(at, 1);
        else paragraphs.splice(at, 0, `Revised: ${Math.floor(random() * 1e9).toString(36)} in this place.`);
        await writeFile(join(root, path), paragraphs.join('\n\n'));
      }
      added += 1;
      const path = `added-${added}.md`;
      await writeFile(join(root, path), `# Added ${added}\n\nA page that came in round ${added}.\n`);
      paths.push(path);
    },
  };
}
