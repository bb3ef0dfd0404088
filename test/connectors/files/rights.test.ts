import { execFileSync } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder, writeFiles } from '../../support/temporary-folder.js';

const script = fileURLToPath(new URL('./print-pass.js', import.meta.url));
const nobody = 65_534;

test.runIf(process.platform !== 'win32')(
  'what may not be read fails or is spared, and the rest goes on',
  async () => {
    const root = await temporaryFolder();
    await writeFiles(root, {
      'a.md': 'a',
      'b-secret.md': 'b',
      'c-secret.jsonl': '{"id":1,"text":"c"}\n',
      'closed/d.md': 'd',
      'unlookable/e.md': 'e',
      'z.md': 'z',
    });
    await chmod(root, 0o755);
    await chmod(join(root, 'b-secret.md'), 0);
    await chmod(join(root, 'c-secret.jsonl'), 0);
    await chmod(join(root, 'closed'), 0);
    // May be listed, but nothing in it may be opened.
    await chmod(join(root, 'unlookable'), 0o644);
    // Root may read everything, so the pass runs as somebody else.
    const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};
    const printed = execFileSync(process.execPath, [script, root], { ...user, cwd: '/', encoding: 'utf8' });
    expect(JSON.parse(printed)).toEqual({
      found: {
        'a.md': 'a',
        'b-secret.md': '[item_unreadable]',
        'c-secret.jsonl': '[item_unreadable]',
        'unlookable/e.md': '[item_unreadable]',
        'z.md': 'z',
      },
      except: [['c-secret.jsonl/', 'closed/']],
      notices: ['folder_unlisted'],
    });
    await chmod(join(root, 'closed'), 0o755);
    await chmod(join(root, 'unlookable'), 0o755);
  },
);
