import { z } from 'zod';
import { MillraceError } from '../../../../errors/millrace-error.js';
import type { ModelFolder } from '../../../models/model-folder.js';
import { readJsonFile } from '../../../models/read-json-file.js';

/** How the scores of a classification model become labels. */
export interface LabelSettings {
  readonly labels: readonly string[];
  /** `one`: exactly one label holds (softmax); `several`: each for itself (sigmoid); `number`: the score is the result. */
  readonly kind: 'one' | 'several' | 'number';
}

const configFile = z.looseObject({
  id2label: z.record(z.string(), z.string()).nullish(),
  problem_type: z.string().nullish(),
  num_labels: z.number().int().positive().nullish(),
});

/** @throws MillraceError `model_unsupported` when `config.json` does not name the labels */
export async function readLabelSettings(folder: ModelFolder): Promise<LabelSettings> {
  const config = await readJsonFile(folder, 'config.json', configFile);
  const named = config?.id2label ?? {};
  const labels = Array.from({ length: Object.keys(named).length }, (_, id) => named[String(id)]);
  if (labels.length === 0 || labels.includes(undefined))
    throw new MillraceError(
      'model_unsupported',
      `The model ${folder.name} does not name its labels: config.json has no id2label from 0 on.`,
      { hint: 'Choose a model for text classification, or add id2label to its config.json.' },
    );
  return { labels: labels as string[], kind: kindOf(config?.problem_type, labels.length) };
}

/** As transformers decides it where a model does not say. */
function kindOf(problem: string | null | undefined, labels: number): LabelSettings['kind'] {
  if (problem === 'regression') return 'number';
  if (problem === 'multi_label_classification' || labels === 1) return 'several';
  return 'one';
}
