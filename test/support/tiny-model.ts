import { tinyOnnx, type TinyGraph } from './tiny-onnx.js';

export interface TinyModel extends Partial<TinyGraph> {
  /** More files, or others in place of those made here; undefined leaves one out. */
  readonly files?: Readonly<Record<string, Buffer | string | object | undefined>>;
}

/** Words of the tiny model; the id of a word is its index. */
export const tinyWords = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', 'ants', 'bees', 'cows', 'query', ':'];

/** One vector a word, 4 wide, all different. */
export const tinyTable = tinyWords.map((_, id) => [id, id * id, -id, 1]);

/** The files of a sentence-transformers ONNX export with a vocabulary of nine words and mean pooling. */
export function tinyModelFiles({ files = {}, ...graph }: TinyModel = {}): Record<string, Buffer> {
  const made: Record<string, Buffer | string | object | undefined> = {
    'onnx/model.onnx': tinyOnnx({ table: tinyTable, ...graph }),
    'config.json': { model_type: 'bert', max_position_embeddings: 12, hidden_size: 4 },
    'modules.json': [
      { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
      { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
    ],
    '1_Pooling/config.json': { word_embedding_dimension: 4, pooling_mode_mean_tokens: true },
    'sentence_bert_config.json': { max_seq_length: 8, do_lower_case: false },
    'tokenizer_config.json': { model_max_length: 12, do_lower_case: true },
    'tokenizer.json': tinyTokenizer(),
    ...files,
  };
  return Object.fromEntries(
    Object.entries(made).flatMap(([path, content]) => {
      if (content === undefined) return [];
      if (Buffer.isBuffer(content)) return [[path, content]];
      return [[path, Buffer.from(typeof content === 'string' ? content : JSON.stringify(content))]];
    }),
  );
}

function tinyTokenizer(): object {
  const special = [0, 1, 2, 3].map((id) => ({
    id,
    content: tinyWords[id],
    special: true,
    single_word: false,
    lstrip: false,
    rstrip: false,
    normalized: false,
  }));
  const around = (token: string) => ({ SpecialToken: { id: token, type_id: 0 } });
  const ids = (token: string) => ({ id: token, ids: [tinyWords.indexOf(token)], tokens: [token] });
  return {
    version: '1.0',
    truncation: { max_length: 4, strategy: 'LongestFirst', stride: 0, direction: 'Right' },
    padding: null,
    added_tokens: special,
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [around('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, around('[SEP]')],
      pair: [],
      special_tokens: { '[CLS]': ids('[CLS]'), '[SEP]': ids('[SEP]') },
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tinyWords.map((word, id) => [word, id])),
    },
  };
}
