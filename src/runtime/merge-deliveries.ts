import type { Delivery } from '../contracts/source.js';

/**
 * Deliveries of both as they come, until the first has ended. Each is asked for one delivery at a time, and for the next
 * when that was taken.
 * @param end makes both end soon, whatever they wait for
 */
export async function* mergeDeliveries(
  first: AsyncIterable<Delivery>,
  second: AsyncIterable<Delivery>,
  end: () => void,
): AsyncGenerator<Delivery> {
  const iterators = [first, second].map((one) => one[Symbol.asyncIterator]());
  const pending = new Map<number, Promise<{ at: number; result: IteratorResult<Delivery> }>>();
  const ask = (at: number) => {
    const answer = iterators[at]!.next().then((result) => ({ at, result }));
    // One that fails while the other is taken is heard of at the next race.
    answer.catch(() => undefined);
    pending.set(at, answer);
  };
  try {
    ask(0);
    ask(1);
    for (;;) {
      const { at, result } = await Promise.race(pending.values());
      pending.delete(at);
      if (result.done === true) {
        if (at === 0) return;
        continue;
      }
      yield result.value;
      ask(at);
    }
  } finally {
    end();
    await Promise.all(iterators.map((one) => one.return?.()));
  }
}
