import type { Generations } from '../../contracts/generations.js';
import type { KeptTexts } from '../../contracts/kept-texts.js';
import type { Sink } from '../../contracts/sink.js';
import type { DocumentTaskContext } from '../../pipeline/document-task.js';
import { takeOver, takeOverChunks, type TakeOverContext } from '../../pipeline/take-over.js';
import { takeOverGiven } from '../../pipeline/take-over-given.js';
import type { Trace } from '../../pipeline/trace.js';
import type { FillOptions } from './fill.js';
import { readGiven } from './read-given.js';

/** Documents taken over as they are cut: their stored chunks get vectors by the new models. */
export function chunkWorks(generations: Generations, context: TakeOverContext): FillOptions['works'] {
  return async (ids) => {
    const documents = await generations.read(ids, context.signal);
    return documents.map((document) => ({
      documentId: document.entry.documentId,
      characters: document.chunks.reduce((sum, { text }) => sum + text.length, 0),
      trace: { stage: 'embed' },
      takeOver: () =>
        takeOver(document.entry, context.sink, (version) => takeOverChunks(document, version, context)),
    }));
  };
}

/**
 * Documents made anew from what their sources gave.
 * @param active of the generation that is read
 */
export function givenWorks(
  active: Sink,
  texts: KeptTexts,
  context: Omit<DocumentTaskContext, 'source'>,
): FillOptions['works'] {
  return async (ids) => {
    const documents = await readGiven(active, texts, ids, context.signal);
    return documents.map(({ entry, given }) => {
      const trace: Trace = { stage: 'enrich', route: undefined };
      return {
        documentId: entry.documentId,
        characters: given?.text.length ?? 0,
        trace,
        takeOver: () =>
          takeOver(entry, context.sink, (version) => takeOverGiven(entry, version, given, context, trace)),
      };
    });
  };
}
