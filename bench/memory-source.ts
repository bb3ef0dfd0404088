import type { Delivery, Source } from '../src/contracts/source.js';
import { createDocument } from '../src/elements/document.js';
import { versionOf } from '../src/elements/version.js';
import { chunked } from '../src/flow/chunked.js';

const deliverySize = 64;

/** Texts in memory as a source that ends: each is a document of its own. */
export function memorySource(texts: readonly string[]): Source {
  return {
    name: 'memory',
    async *deliveries({ signal }): AsyncGenerator<Delivery> {
      let handedOver = 0;
      for (const some of chunked(texts, deliverySize)) {
        if (signal.aborted) return;
        const elements = some.map((text, at) => {
          const number = handedOver + at;
          return createDocument({ id: `readme-${number}`, text, version: versionOf(0, BigInt(number)) });
        });
        handedOver += some.length;
        yield { kind: 'elements', elements, settle: async () => undefined };
      }
    },
  };
}
