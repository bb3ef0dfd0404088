import { z } from 'zod';
import type { Notice } from '../../../contracts/context.js';
import type { Pooling } from '../../../contracts/embedding-model.js';
import { MillraceError } from '../../../errors/millrace-error.js';
import type { ModelFolder } from '../../models/model-folder.js';
import { readJsonFile } from '../../models/read-json-file.js';
import type { OnnxOptions } from './options.js';
import { readPooling } from './pooling-settings.js';

/** How a model's token vectors become the vector of a text, from the files that sentence-transformers keeps. */
export interface SentenceSettings {
  readonly pooling: Pooling;
  readonly normalize: boolean;
  /** Longest sequence, special tokens and prompt included. */
  readonly maxTokens: number;
  readonly prompts: { readonly document: string; readonly query: string };
  /** What the files did not say and was assumed. */
  readonly notices: readonly Notice[];
}

const modulesFile = z.array(z.looseObject({ path: z.string(), type: z.string() }));
const transformerFile = z.looseObject({
  max_seq_length: z.number().int().positive().nullish(),
  do_lower_case: z.boolean().nullish(),
});
const promptsFile = z.looseObject({
  prompts: z.record(z.string(), z.string()).nullish(),
  default_prompt_name: z.string().nullish(),
});
const tokenizerFile = z.looseObject({
  model_max_length: z.number().nullish(),
  do_lower_case: z.boolean().nullish(),
});
const configFile = z.looseObject({
  max_position_embeddings: z.number().int().positive().nullish(),
  pad_token_id: z.number().int().nullish(),
  model_type: z.string().nullish(),
});

/** Their positions begin after the padding token's id, so that many fewer tokens fit. */
const offsetPositions = new Set(['roberta', 'xlm-roberta', 'camembert', 'mpnet', 'xlm-roberta-xl']);

type Overrides = Pick<OnnxOptions, 'pooling' | 'prompts' | 'maxTokens'>;

/**
 * Reads `modules.json`, the pooling's and transformer's settings, the prompts and lengths. A plain transformers export
 * has no modules: then mean pooling and vectors of length 1 are assumed, with a notice.
 * @throws MillraceError `model_unsupported` for a module, pooling mode or lower-casing that the handler cannot do,
 * `model_corrupt`, `config_invalid` for a `maxTokens` over what the model has positions for
 */
export async function readSentenceSettings(
  folder: ModelFolder,
  options: Overrides,
): Promise<SentenceSettings> {
  const notices: Notice[] = [];
  const modules = await readJsonFile(folder, 'modules.json', modulesFile);
  const { pooling, normalize } = await readModules();
  return { pooling, normalize, maxTokens: await readLength(), prompts: await readPrompts(), notices };

  async function readModules(): Promise<Pick<SentenceSettings, 'pooling' | 'normalize'>> {
    let found: Pooling | undefined;
    let normalize = false;
    for (const { type, path } of modules ?? []) {
      const kind = type.split('.').at(-1);
      if (kind === 'Transformer') continue;
      else if (kind === 'Pooling') found = await readPooling(folder, path, options);
      else if (kind === 'Normalize') normalize = true;
      else {
        throw unsupported(
          `module ${type}`,
          'Choose a model made of Transformer, Pooling and Normalize alone.',
        );
      }
    }
    if (modules === undefined) normalize = true;
    const pooling = options.pooling ?? found;
    if (pooling === undefined) {
      assume('model_pooling_assumed', 'pooling', 'mean pooling and vectors of length 1 are assumed');
    }
    return { pooling: pooling ?? 'mean', normalize };
  }

  async function readLength(): Promise<number> {
    const base = modules?.find(({ type }) => type.endsWith('.Transformer'))?.path ?? '';
    const name = [...folder.files.keys()].find((path) =>
      /^sentence_\w+_config\.json$/.test(base === '' ? path : path.replace(`${base}/`, '')),
    );
    const transformer = name === undefined ? undefined : await readJsonFile(folder, name, transformerFile);
    const tokenizer = await readJsonFile(folder, 'tokenizer_config.json', tokenizerFile);
    const config = await readJsonFile(folder, 'config.json', configFile);
    if (transformer?.do_lower_case === true && tokenizer?.do_lower_case !== true) {
      throw unsupported(
        'do_lower_case beside a tokenizer that keeps case',
        'Choose a model whose own tokenizer lower-cases.',
      );
    }
    const offset = offsetPositions.has(config?.model_type ?? '') ? (config?.pad_token_id ?? 1) + 1 : 0;
    const positions = (config?.max_position_embeddings ?? Infinity) - offset;
    if (options.maxTokens !== undefined) {
      if (options.maxTokens <= positions) return options.maxTokens;
      throw new MillraceError(
        'config_invalid',
        `maxTokens is ${options.maxTokens}, but the model ${folder.name} has positions for ${positions} tokens`,
        { hint: `Leave maxTokens out, or write at most ${positions}.` },
      );
    }
    // Tokenizers without a limit of their own carry a number such as 1e30.
    const length = Math.min(
      positions,
      transformer?.max_seq_length ?? tokenizer?.model_max_length ?? Infinity,
    );
    if (length <= 1e6) return length;
    assume('model_length_assumed', 'longest sequence', '512 tokens are assumed');
    return 512;
  }

  async function readPrompts(): Promise<SentenceSettings['prompts']> {
    const file = await readJsonFile(folder, 'config_sentence_transformers.json', promptsFile);
    const prompts = file?.prompts ?? {};
    const fallback = prompts[file?.default_prompt_name ?? ''] ?? '';
    // The names, and their order, are those of sentence-transformers' encode_document and encode_query.
    const document = prompts['document'] ?? prompts['passage'] ?? prompts['corpus'] ?? fallback;
    return {
      document: options.prompts.document ?? document,
      query: options.prompts.query ?? prompts['query'] ?? fallback,
    };
  }

  function assume(code: string, what: string, assumed: string): void {
    const message = `The files of model ${folder.name} do not say its ${what}: ${assumed}.`;
    notices.push({ level: 'warn', code, message });
  }

  function unsupported(what: string, hint: string): MillraceError {
    return new MillraceError('model_unsupported', `The model ${folder.name} asks for ${what}`, { hint });
  }
}
