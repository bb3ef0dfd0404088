/** What decides the space of a model's vectors. Two models with equal identities may share a space, others never. */
export interface ModelIdentity {
  /** For people: `bundled`, a folder's name, or a hub id. Not part of the digest. */
  readonly name: string;
  /** SHA-256 of the weights file, hex; of a remote model what it is called there. */
  readonly weights: string;
  /** SHA-256 of the tokenizer file, hex; `remote` where the server tokenises. */
  readonly tokenizer: string;
  /** Revision on the hub, where the model comes from one. Not part of the digest: the weights are. */
  readonly revision?: string;
  readonly pooling: Pooling | 'remote';
  /** Vectors have length 1: false where nobody promises it. */
  readonly normalize: boolean;
  /** Put before every text, by role. */
  readonly prompts: { readonly document: string; readonly query: string };
  /** Components of a vector. */
  readonly width: number;
  readonly dtype: string;
}

/** How token vectors become one vector. */
export type Pooling = 'mean' | 'cls' | 'max' | 'last';

/** Documents and queries may be given different prompts. */
export type TextRole = 'document' | 'query';

/** A text to embed, with its token ids when somebody has them already. */
export interface EmbedText {
  readonly text: string;
  /** Token ids of `text` by the model's own tokenizer, special tokens and prompt excluded. */
  readonly ids?: Int32Array | undefined;
}

/** Where a worker thread finds a tokenizer: plain data. */
export interface TokenizerRef {
  /** Absolute path of a `tokenizer.json`. */
  readonly file: string;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
}

/**
 * How a worker thread runs a model by itself, on tokens that it has at hand: plain data. For models that cost no more
 * than it does to hand their input over.
 */
export interface InPlaceModelRef {
  /** Address of an ES module whose `create` opens the model (see `InPlaceModule`). */
  readonly module: string;
  /** What `create` is given: anything that can be structurally cloned. */
  readonly options: unknown;
}

/** Stands in for a tokenizer that is not known: texts are measured by their bytes. */
export interface ByteMeasure {
  /** From 1. */
  readonly bytesPerToken: number;
}

/** A loaded model that turns texts into vectors, in worker threads or behind an address. */
export interface EmbeddingModel {
  readonly identity: ModelIdentity;
  /** undefined: not known; `maxTokens` is then a bound on the bytes of a text. */
  readonly tokenizer: TokenizerRef | undefined;
  /** Most tokens of one text: the model's limit less its special tokens and its document prompt. */
  readonly maxTokens: number;
  /** A text's vector does not depend on the batch it is in. */
  readonly batchInvariant: boolean;
  /** Batches that can be under way at once. */
  readonly concurrency: number;
  /** What a good batch is on this device. */
  readonly batching: Batching;
  /** Documents can be embedded where they are chunked, with the same vectors bit for bit. */
  readonly inPlace?: InPlaceModelRef;
  /**
   * One vector a text, in their order, unchecked: the caller checks width, finiteness and norm. Vectors of one call may
   * share a buffer: copy one before it goes to another thread.
   * @throws MillraceError `inference_failed`, `out_of_memory`, `worker_crashed`: no text of this batch was embedded
   */
  embed(texts: readonly EmbedText[], role: TextRole, signal?: AbortSignal): Promise<EmbeddedBatch>;
  /**
   * The ids that `embed` takes, one array a text, made in a worker; undefined while it has none to give. Where batches are
   * padded, texts are counted by it ahead.
   * @throws MillraceError as `embed`
   */
  readonly tokenize?: (
    texts: readonly string[],
    signal?: AbortSignal,
  ) => Promise<readonly Int32Array[] | undefined>;
  close(): Promise<void>;
}

/** The answer to one batch, labelled by the model that made it: another may have taken its place by now. */
export interface EmbeddedBatch {
  /** Names that model: of ours the digest of its identity, of one of one's own what it likes. */
  readonly modelId: string;
  /** Components that each vector should have. */
  readonly width: number;
  readonly vectors: readonly Float32Array[];
  /** Time that the worker took, in ms, without waiting and retries: batches are sized by it. */
  readonly ms?: number;
  /** Tokens of the texts, those around them counted too. */
  readonly tokens?: number;
  /** The same with padding. */
  readonly paddedTokens?: number;
}

/** What good batches are on this device. Tokens of a batch are counted with padding. */
export interface Batching {
  /** Texts of a batch are padded to its longest one: those of similar length go together. */
  readonly padded: boolean;
  /** Tokens of a batch at most, to begin with. */
  readonly tokens: number;
  /** Texts of a batch at most. */
  readonly texts: number;
  /** The best `tokens` is looked for at run time from this one up. Default: `tokens`, so it is not made smaller. */
  readonly minTokens?: number;
  /** ... to this one. Default: `tokens`, so it is not made larger. */
  readonly maxTokens?: number;
  /** Most time, in ms, that a batch should take. Default: none. */
  readonly latencyMs?: number;
  /** How long, in ms, a batch that is not full may wait for more while another is under way. Default 0. */
  readonly maxWaitMs?: number;
  /** Share of a text's place that may be padding, unless the batch would be a small one; 0 to 1. Default 1: any. */
  readonly mostPadding?: number;
  /**
   * Tokens from which a batch is worth a worker of its own: fewer texts than fill a batch are shared out among idle
   * workers. Default: they go together.
   */
  readonly shareTokens?: number;
}
