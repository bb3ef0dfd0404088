import type { ConnectorContext } from '../../src/contracts/context.js';
import type { SourceContext } from '../../src/contracts/source.js';
import { replyCode } from './client.js';

/** Tells of an outage of a stream once, however many connections it takes and however often they are tried again. */
export class Outage {
  readonly #stream: string;
  readonly #notify: ConnectorContext['notify'];
  readonly #lag: SourceContext['lag'];
  #goesOn = false;

  constructor(stream: string, notify: ConnectorContext['notify'], lag: SourceContext['lag']) {
    this.#stream = stream;
    this.#notify = notify;
    this.#lag = lag;
  }

  get goesOn(): boolean {
    return this.#goesOn;
  }

  begin(error?: unknown): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    const why = replyCode(error) ?? 'the connection was lost';
    const stalled = `Reading ${this.#stream} was interrupted (${why}); trying again.`;
    this.#notify({ level: 'warn', code: 'source_interrupted', message: stalled });
    this.#lag({ stalled });
  }

  end(): void {
    if (!this.#goesOn) return;
    this.#goesOn = false;
    this.#notify({ level: 'info', code: 'source_resumed', message: `Reading ${this.#stream} goes on.` });
    this.#lag({});
  }
}
