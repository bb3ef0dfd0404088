import type { Socket } from 'node:net';
import pg from 'pg';

const endMs = 1_000;

/**
 * A client whose connection closes though the server does not answer its goodbye: one that was cut off in silence would
 * keep the process alive for as long as the kernel hopes. A stream, which has a query under way until its end, says goodbye
 * in another way: see cdc/end-client.ts.
 */
export class EndingClient extends pg.Client {
  override end(): Promise<void>;
  override end(done: (error: Error) => void): void;
  override end(done?: (error: Error) => void): Promise<void> | void {
    const { connection } = this as unknown as { readonly connection: { readonly stream: Socket } };
    const { stream } = connection;
    stream.setTimeout(endMs, () => stream.destroy());
    return done === undefined ? super.end() : super.end(done);
  }
}
