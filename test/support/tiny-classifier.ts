import { tinyModelFiles, tinyTable } from './tiny-model.js';

export interface TinyClassifier {
  /** More or other keys of `config.json`; undefined leaves one out. */
  readonly config?: object;
  /** Scores a text has; the first columns of the tiny table. Default 4. */
  readonly width?: number;
}

/** The files of a text classification export whose scores are the mean of the tiny model's token vectors. */
export function tinyClassifierFiles({ config, width = 4 }: TinyClassifier = {}): Record<string, Buffer> {
  return tinyModelFiles({
    table: tinyTable.map((row) => row.slice(0, width)),
    output: 'logits',
    mean: true,
    files: {
      'config.json': {
        model_type: 'bert',
        architectures: ['BertForSequenceClassification'],
        max_position_embeddings: 12,
        id2label: { 0: 'calm', 1: 'loud', 2: 'sad', 3: 'neutral' },
        ...config,
      },
      'modules.json': undefined,
      '1_Pooling/config.json': undefined,
      'sentence_bert_config.json': undefined,
    },
  });
}
