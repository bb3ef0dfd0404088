import type { Document } from '../../src/elements/document.js';
import type { Operation } from './operations.js';

/** Far more than can be under way at once. */
const maxEarlier = 200;

export type Content = Pick<Document, 'text' | 'metadata'>;

/** What one document must have become. */
export interface Expected {
  /** Of its newest version that is not bad; undefined when that is a deletion, or there is none. */
  readonly content: Content | undefined;
  /**
   * Its newest version cannot be read: its record must wait among the failed elements. Then the store may hold any earlier
   * one: those that come after the failure are dropped.
   */
  readonly failed: boolean;
  readonly earlier: readonly (Content | undefined)[];
}

/** What was written to the source, and so what the store must hold in the end. */
export class OperationLog {
  readonly documents = new Map<string, Expected>();

  add(operation: Operation): void {
    const { id } = operation;
    const { content, earlier } = this.documents.get(id) ?? { content: undefined, earlier: [] };
    switch (operation.kind) {
      case 'put': {
        const { text, metadata } = operation;
        const next = { text, metadata };
        this.documents.set(id, {
          content: next,
          failed: false,
          earlier: [...earlier.slice(-maxEarlier), content],
        });
        return;
      }
      case 'delete':
        this.documents.set(id, {
          content: undefined,
          failed: false,
          earlier: [...earlier.slice(-maxEarlier), content],
        });
        return;
      case 'bad':
        this.documents.set(id, { content, failed: true, earlier });
        return;
      default:
        operation satisfies never;
    }
  }
}
