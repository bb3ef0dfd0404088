import type { Stage } from '../../contracts/failed-store.js';
import type { Document } from '../../elements/document.js';
import { readField, type FieldPath } from '../../elements/field-path.js';
import type { Json, Metadata } from '../../elements/metadata.js';
import { messageOf } from '../../errors/message-of.js';
import { MillraceError } from '../../errors/millrace-error.js';
import { untilAborted } from '../../errors/until-aborted.js';
import type { Router } from '../../inference/routing.js';
import type { Inference, InferLane } from './infer-lane.js';
import { labelled, labelledByModel } from './labelled.js';

/** What a step looks at: a document, or one chunk of it. */
export interface InferSubject {
  readonly document: Document;
  readonly chunk?: InferChunk;
}

export interface InferChunk {
  /** Place in the document, from 0. */
  readonly ordinal: number;
  readonly text: string;
  readonly metadata: Metadata;
}

/** Makes the item for the model of what the field holds; `undefined` for nothing to infer. */
export type Preprocess = (
  value: Json | undefined,
  subject: InferSubject,
) => Json | undefined | Promise<Json | undefined>;

/** Makes the result of what the model gave. */
export type Postprocess = (value: Json, made: InferSubject & InferMade) => Json | Promise<Json>;

export interface InferMade {
  /** Name of the model in the configuration. */
  readonly model: string;
  readonly modelId: string;
}

/** One place, or several by the names that the model's item is to have; `document` is the text of the whole document. */
export type InferField = FieldPath | { readonly [name: string]: FieldPath };

export interface InferStepOptions {
  readonly name: string;
  readonly field: InferField;
  /** The result is a text and nothing but that. */
  readonly asText: boolean;
  /** The step names several models: results are kept by model. */
  readonly keyed: boolean;
  readonly route: Router;
  readonly lanes: ReadonlyMap<string, InferLane>;
  /** Runs the work on a document of so many bytes of text, which counts in the lanes of these models until it ends. */
  within<T>(models: readonly string[], bytes: number, work: () => Promise<T>): Promise<T>;
  readonly preprocess?: Preprocess | undefined;
  readonly postprocess?: Postprocess | undefined;
  /** Gives up hooks that are under way. */
  readonly signal: AbortSignal;
}

/**
 * Brings all subjects of one document through the hooks and the models of its route. @returns what is to be stored of
 * each: undefined for nothing, a text where `asText`, else metadata
 * @throws MillraceError of the first subject that fails; `enter` was told the stage
 */
export type InferStep = (
  document: Document,
  subjects: readonly InferSubject[],
  enter: (stage: Stage) => void,
) => Promise<readonly (Json | undefined)[]>;

export function createInferStep(options: InferStepOptions): InferStep {
  const { name, field, asText, keyed, route, lanes, preprocess, postprocess, signal } = options;
  return async (document, subjects, enter) => {
    enter('infer');
    const models = route(document);
    enter('preprocess');
    const items = await Promise.all(
      subjects.map((subject) => {
        const value = valueOf(subject, field);
        if (preprocess !== undefined) return hook('preprocess', () => preprocess(value, subject));
        if (value !== undefined) return value;
        throw new MillraceError(
          'transform_failed',
          `The step "${name}" found no ${String(field)} in ${named(subject)}.`,
          { hint: 'Give a `preprocess` that returns a default, or undefined to leave such documents alone.' },
        );
      }),
    );
    enter('infer');
    const made = await options.within(models, document.text.length * 2, () =>
      Promise.all(items.map((item) => (item === undefined ? undefined : inferAll(models, item)))),
    );
    enter('postprocess');
    return Promise.all(
      made.map(async (inferences, at) => {
        if (inferences === undefined) return undefined;
        const results = await Promise.all(
          inferences.map(async ([model, one]) => [model, await finished(model, one, subjects[at]!)] as const),
        );
        if (asText) return textOf(results.map(([, { value }]) => value));
        return keyed ? labelledByModel(new Map(results)) : labelled(results[0]![1]);
      }),
    );
  };

  async function inferAll(models: readonly string[], item: Json) {
    return Promise.all(models.map(async (model) => [model, await lanes.get(model)!.infer(item)] as const));
  }

  async function finished(model: string, inference: Inference, subject: InferSubject): Promise<Inference> {
    if (postprocess === undefined) return inference;
    const { modelId, value } = inference;
    const result = await hook('postprocess', () => postprocess(value, { ...subject, model, modelId }));
    if (result !== undefined) return { modelId, value: result };
    throw new MillraceError('transform_failed', `${name}.postprocess gave undefined.`);
  }

  async function hook<T>(which: string, call: () => T | Promise<T>): Promise<T> {
    try {
      // One that never ends must not hold up a stop.
      return await untilAborted((async () => call())(), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof MillraceError) throw error;
      const message = messageOf(error);
      throw new MillraceError('transform_failed', `${name}.${which} failed: ${message}`, { cause: error });
    }
  }

  function textOf(values: readonly Json[]): string {
    const [value] = values;
    if (values.length === 1 && typeof value === 'string') return value;
    const got = values.length === 1 ? typeof value : `${values.length} results`;
    throw new MillraceError('transform_failed', `The step "${name}" needs one text, and got ${got}.`, {
      hint: 'Make a text of the result in `postprocess`, and route to one model.',
    });
  }
}

function valueOf(subject: InferSubject, field: InferField): Json | undefined {
  if (typeof field === 'string') return read(subject, field);
  const entries = Object.entries(field).map(([name, path]) => [name, read(subject, path) ?? null] as const);
  return Object.fromEntries(entries);
}

function read({ document, chunk }: InferSubject, path: FieldPath): Json | undefined {
  return path === 'document' ? document.text : readField(chunk ?? document, path);
}

function named({ document, chunk }: InferSubject): string {
  const id = JSON.stringify(document.id);
  return chunk === undefined ? `the document ${id}` : `chunk ${chunk.ordinal} of ${id}`;
}
