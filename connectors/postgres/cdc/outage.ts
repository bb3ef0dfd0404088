import type { ConnectorContext } from '../../../src/contracts/context.js';
import type { SourceContext } from '../../../src/contracts/source.js';
import { messageOf } from '../../../src/errors/message-of.js';

/** Tells of an outage once, however often it is tried again. */
export class Outage {
  readonly #notify: ConnectorContext['notify'];
  readonly #lag: SourceContext['lag'];
  #goesOn = false;

  constructor(notify: ConnectorContext['notify'], lag: SourceContext['lag']) {
    this.#notify = notify;
    this.#lag = lag;
  }

  begin(error: unknown): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    const stalled = `Reading Postgres was interrupted (${messageOf(error)}); trying again.`;
    this.#notify({ level: 'warn', code: 'source_interrupted', message: stalled });
    this.#lag({ stalled });
  }

  end(): void {
    if (!this.#goesOn) return;
    this.#goesOn = false;
    this.#notify({ level: 'info', code: 'source_resumed', message: 'Reading Postgres goes on.' });
    this.#lag({});
  }
}
