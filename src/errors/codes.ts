/**
 * Every way in which Millrace can fail, as a closed list. Connectors and handlers only classify: what follows from a
 * code (retry, failed element, pause, stop) is decided in one table, `flow/error-policy.ts`.
 */
export const errorCodes = [
  /** The configuration or an option is wrong; nothing was started. */
  'config_invalid',
  /** The store was filled by another chain or another model than the one now configured. */
  'artifact_mismatch',
  /** A model, or one of its files, is nowhere to be found (or the network is switched off). */
  'model_not_found',
  /** A model file exists but is truncated, altered or not what its format says. */
  'model_corrupt',
  /** A model is whole, but asks for something that no handler here can do. */
  'model_unsupported',
  /** A runtime that the handler needs is not installed. */
  'runtime_missing',
  /** A new model failed its probe; the old one serves on. */
  'probe_failed',
  /** A model had to make room for another, and neither can be loaded now. */
  'model_lost',
  /** A device that a model shall run on is not there, or its libraries are not. */
  'device_unavailable',
  /** A model asks for more memory or threads than this machine, or the configured limit, gives. */
  'resources_insufficient',
  /** The model hub or another remote service could not be reached or answered with a passing error. */
  'remote_unavailable',
  /** A remote service refuses this key, token or model: no call to it can pass until somebody mends that. */
  'remote_refused',
  /** A remote service has had enough calls for now. */
  'rate_limited',
  /** A remote service cannot serve this one text, while it serves others. */
  'remote_failed',
  /** The source as a whole cannot be read (a root folder that cannot be listed). */
  'source_unavailable',
  /** A table has lost a column that makes documents, or gave it another type. */
  'source_changed',
  /** The source may have lost changes before they were read. */
  'source_gap',
  /** The source keeps more for us than it may. */
  'source_behind',
  /** One item of the source cannot be read. */
  'item_unreadable',
  /** One item of the source is not what its format says (bad JSON, missing id, not UTF-8). */
  'item_malformed',
  /** One item, or its chunks, is over the configured cap. */
  'item_too_large',
  /** One item ended every process that worked on it. */
  'item_hopeless',
  /** Far more documents vanished at once than is plausible. */
  'mass_deletion',
  /** A function or look-up of the chain failed for this document. */
  'transform_failed',
  /** A document's route leads to no model. */
  'route_unknown',
  /** A model failed on these texts. */
  'inference_failed',
  /** A model gave too few, too many, wrongly sized, non-finite or zero vectors. */
  'embedding_invalid',
  /** The device ran out of memory on this batch. */
  'out_of_memory',
  /** A worker thread ended before it answered. */
  'worker_crashed',
  /** Another process owns the store's folder. */
  'store_locked',
  /** The store cannot be reached, or the connection broke. */
  'store_unavailable',
  /** A deadlock or serialization failure: the same transaction may pass when tried again. */
  'store_conflict',
  /** The store refuses this data. */
  'store_refused',
  /** The store's tables are not what this version of Millrace writes. */
  'store_layout',
  /** Another generation of the store is active than the one that was meant. */
  'generation_moved',
  /** A generation cannot become the active one: it lacks something, or answers too differently. */
  'generation_refused',
  /** The document is owned by another source. */
  'owner_mismatch',
  /** The failed-element sink refused a record. */
  'failed_sink_unavailable',
  /** The work was cancelled by a stop. */
  'aborted',
  /** Anything that was not classified: a defect, never retried. */
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];
