import type { Document, SourceElement } from '../elements/document.js';
import type { Outcome } from '../elements/outcome.js';
import { Begun } from '../flow/begun.js';
import { KeyedOrder } from '../flow/keyed-order.js';
import type { Report } from '../observability/events.js';
import { processElement, type ElementTaskContext } from '../pipeline/element-task.js';
import { mayShareTask, processTogether, togetherAtMost, type Settled } from '../pipeline/short-documents.js';
import { Tally } from './tally.js';

/** Brings elements to their outcomes, each after the earlier ones of the same document, and tells of them. */
export class ElementTasks {
  readonly tally = new Tally();
  readonly #context: ElementTaskContext;
  readonly #report: Report;
  readonly #order = new KeyedOrder();

  constructor(context: ElementTaskContext) {
    this.#context = context;
    this.#report = context.report;
  }

  /**
   * One outcome an element, in their order. All are waited for, also when one rejects: nothing may still use the store
   * once the run has ended.
   */
  async process(elements: readonly SourceElement[]): Promise<Outcome[]> {
    const outcomes = new Array<Outcome>(elements.length);
    const begun = new Begun();
    const settled: Settled = (at, outcome) => {
      outcomes[at] = outcome;
      this.#tell(elements[at]!, outcome);
    };
    let group = new Group();
    const begin = () => {
      if (group.documents.length > 0) begun.add(this.#processGroup(group, outcomes, settled));
      group = new Group();
    };
    elements.forEach((element, at) => {
      if (!mayShareTask(element, this.#context.chain) || !this.#order.enter(element.id)) {
        begun.add(this.#processAlone(element).then((outcome) => settled(at, outcome)));
        return;
      }
      if (!group.hasRoomFor(element)) begin();
      group.add(element, at);
    });
    begin();
    await begun.over();
    return outcomes;
  }

  async #processAlone(element: SourceElement): Promise<Outcome> {
    return this.#order.run(element.id, () => processElement(element, this.#context));
  }

  async #processGroup(
    { documents, places }: Group,
    outcomes: readonly Outcome[],
    settled: Settled,
  ): Promise<void> {
    try {
      await processTogether(documents, this.#context, (at, outcome) => {
        this.#order.leave(documents[at]!.id);
        settled(places[at]!, outcome);
      });
    } finally {
      // Where it was cut off.
      documents.forEach(({ id }, at) => {
        if (outcomes[places[at]!] === undefined) this.#order.leave(id);
      });
    }
  }

  #tell(element: SourceElement, outcome: Outcome): void {
    this.tally.add(outcome);
    this.#report({
      type: 'settled',
      documentId: element.id,
      outcome: outcome.kind,
      embedded: outcome.kind === 'stored' ? outcome.embedded : 0,
      characters: element.kind === 'document' ? element.text.length : 0,
    });
  }
}

/** Documents that share a task. */
class Group {
  readonly documents: Document[] = [];
  /** Of each, among all elements. */
  readonly places: number[] = [];
  #units = 0;

  hasRoomFor({ text }: Document): boolean {
    return (
      this.documents.length < togetherAtMost.documents && this.#units + text.length <= togetherAtMost.units
    );
  }

  add(document: Document, place: number): void {
    this.documents.push(document);
    this.places.push(place);
    this.#units += document.text.length;
  }
}
