import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests whose answers have not left yet. */
export class AnswersUnderWay {
  readonly #connections = new Map<Promise<void>, Socket>();

  /** @param work resolves once the answer is written, though perhaps not sent */
  add(work: Promise<void>, { socket }: IncomingMessage, response: ServerResponse): void {
    const whole = work.then(() => sent(response, socket)).finally(() => this.#connections.delete(whole));
    this.#connections.set(whole, socket);
  }

  /** Whether no more than one answer is still to come on this connection. */
  isLastOn(socket: Socket): boolean {
    return [...this.#connections.values()].filter((other) => other === socket).length <= 1;
  }

  /** Resolves when none is left, those that come meanwhile included. */
  async settled(): Promise<void> {
    while (this.#connections.size > 0) await Promise.all(this.#connections.keys());
  }
}

/** The answer has left this process, or there is nobody to read it. */
function sent(response: ServerResponse, socket: Socket): Promise<void> {
  if (response.writableFinished || socket.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      socket.off('close', end);
      resolve();
    };
    response.once('finish', end);
    // A response whose turn on the connection never comes is told of nothing.
    socket.once('close', end);
  });
}
