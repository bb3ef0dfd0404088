import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../config/environment.js';

/** The hub's own cache, shared with its Python tools: `HF_HUB_CACHE`, else `HF_HOME/hub`, else `~/.cache/huggingface/hub`. */
export function modelCacheFolder(env: Environment): string {
  if (env['HF_HUB_CACHE']) return env['HF_HUB_CACHE'];
  if (env['HF_HOME']) return join(env['HF_HOME'], 'hub');
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'huggingface', 'hub');
}
