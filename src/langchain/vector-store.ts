import { Document } from '@langchain/core/documents';
import type { EmbeddingsInterface } from '@langchain/core/embeddings';
import { VectorStore } from '@langchain/core/vectorstores';
import type { Filter } from '../elements/filter/filter.js';
import { MillraceError } from '../errors/millrace-error.js';
import type { Hit } from '../retrieval/hit.js';
import type { Retriever, RetrieveOptions } from '../retrieval/retriever.js';

/** How every question is asked; `k` and `filter` come with each. */
export type LangChainOptions = Omit<RetrieveOptions, 'k' | 'filter' | 'signal'>;

/** Where a document of LangChain's comes from: `metadata.millrace`. The rest of the metadata is the chunk's. */
export type LangChainOrigin = Pick<
  Hit,
  'documentId' | 'ordinal' | 'start' | 'end' | 'score' | 'scoreKind' | 'mode'
>;

/**
 * A vector store of LangChain.js over a retriever, which stays the caller's to close. Each hit is a document with the id
 * of its chunk; with `neighbours` its text is the passage. Filters are Millrace's (see `Filter`).
 *
 * Questions are texts, asked with the models that filled the store: a vector from elsewhere belongs to no model that the
 * store could check it against. Documents come from the source of the pipeline alone, so that the store stays equal to it.
 */
export function langchainVectorStore(
  retriever: Retriever,
  options: LangChainOptions = {},
): MillraceVectorStore {
  return new MillraceVectorStore(retriever, options);
}

// The abstract class is how LangChain tells a vector store.
export class MillraceVectorStore extends VectorStore {
  declare FilterType: Filter;
  readonly #retriever: Retriever;
  readonly #options: LangChainOptions;

  constructor(retriever: Retriever, options: LangChainOptions) {
    super(withoutVectors, {});
    this.#retriever = retriever;
    this.#options = options;
  }

  _vectorstoreType(): string {
    return 'millrace';
  }

  override async similaritySearch(query: string, k?: number, filter?: Filter): Promise<Document[]> {
    const found = await this.similaritySearchWithScore(query, k, filter);
    return found.map(([document]) => document);
  }

  /** Scores are of the kind that `metadata.millrace.scoreKind` names; greater is better. */
  override async similaritySearchWithScore(
    query: string,
    k = 4,
    filter?: Filter,
  ): Promise<[Document, number][]> {
    const hits = await this.#retriever.retrieve(query, { ...this.#options, k, ...(filter && { filter }) });
    return hits.map((hit) => [documentOf(hit), hit.score]);
  }

  override async similaritySearchVectorWithScore(): Promise<[Document, number][]> {
    throw noVectors();
  }

  override async addVectors(): Promise<void> {
    throw readOnly();
  }

  override async addDocuments(): Promise<void> {
    throw readOnly();
  }
}

function documentOf(hit: Hit): Document {
  const { chunkId, text, metadata, passage, documentId, ordinal, start, end, score, scoreKind, mode } = hit;
  const millrace: LangChainOrigin = { documentId, ordinal, start, end, score, scoreKind, mode };
  return new Document({
    id: chunkId,
    pageContent: passage?.text ?? text,
    metadata: { ...metadata, millrace },
  });
}

const withoutVectors: EmbeddingsInterface = {
  embedQuery: () => Promise.reject(noVectors()),
  embedDocuments: () => Promise.reject(noVectors()),
};

function noVectors(): MillraceError {
  return new MillraceError('config_invalid', 'The store is asked by texts, not by vectors.', {
    hint: 'Use similaritySearch or asRetriever: questions are embedded by the models that filled the store.',
  });
}

function readOnly(): MillraceError {
  return new MillraceError(
    'config_invalid',
    'Documents come into this store from the source of its pipeline.',
    {
      hint: 'Put them into the source; `millrace run` brings them into the store.',
    },
  );
}
