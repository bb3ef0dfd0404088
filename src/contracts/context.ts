/** Time, as the whole engine sees it: tests hand in another. */
export interface Clock {
  /** Milliseconds since 1970, as `Date.now()`. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Something an operator may want to know that is no failure. `code` is stable, `message` is for people. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly code: string;
  readonly message: string;
}

/** What every connector is given beside its own configuration. */
export interface ConnectorContext {
  /** Name of the pipeline: the key under which its rows and records are kept. */
  readonly pipeline: string;
  /** Folder that relative paths in the configuration refer to. */
  readonly baseFolder: string;
  readonly clock: Clock;
  notify(notice: Notice): void;
}
