import { MillraceError } from '../../errors/millrace-error.js';
import type { Retriever } from '../../retrieval/retriever.js';

/** A retriever of one generation, and how many of its calls are under way. */
interface Current {
  readonly retriever: Retriever;
  calls: number;
  /** Another has its place, and it is to be closed. */
  left: boolean;
}

/** A generation may be switched again while its models are opened. */
const tries = 5;

/**
 * Goes on with the active generation, whichever that is: a call that meets a switch is made again by the models of the new
 * one, so every answer is of one generation.
 * @param open opens the retriever of the generation that is active now; @param end once all is closed
 */
export function createMovingRetriever(
  first: Retriever,
  open: () => Promise<Retriever>,
  end: () => Promise<void>,
): Retriever {
  let current: Promise<Current> = Promise.resolve({ retriever: first, calls: 0, left: false });

  /** Leaves what `held` holds, unless somebody has already. Where the next cannot be opened, it stays. */
  async function move(held: Promise<Current>, from: Current): Promise<void> {
    if (current !== held) return;
    const next = open().then((retriever) => {
      from.left = true;
      return { retriever, calls: 0, left: false };
    });
    current = next.catch(() => from);
    await next;
    await closeLeft(from);
  }

  /** The last call closes it. */
  async function closeLeft(one: Current): Promise<void> {
    if (!one.left || one.calls > 0) return;
    one.left = false;
    await one.retriever.close();
  }

  async function call<T>(work: (retriever: Retriever) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const held = current;
      const one = await held;
      one.calls += 1;
      try {
        return await work(one.retriever);
      } catch (error) {
        if (MillraceError.from(error).code !== 'generation_moved' || attempt === tries) throw error;
      } finally {
        one.calls -= 1;
        await closeLeft(one);
      }
      await move(held, one);
    }
  }

  return {
    retrieve: (text, options) => call((retriever) => retriever.retrieve(text, options)),
    document: (documentId, options) => call((retriever) => retriever.document(documentId, options)),
    count: () => call((retriever) => retriever.count()),
    close: async () => {
      await (await current).retriever.close();
      await end();
    },
  };
}
