import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests whose answers have not left yet. */
export class AnswersUnderWay {
  readonly #all = new Set<Promise<void>>();
  /** How many there are on each connection that has any. */
  readonly #on = new Map<Socket, number>();

  /** @param work resolves once the answer is written, though perhaps not sent */
  add(work: Promise<void>, { socket }: IncomingMessage, response: ServerResponse): void {
    this.#on.set(socket, this.#countOn(socket) + 1);
    const whole = work
      .then(() => sent(response, socket))
      .finally(() => {
        this.#all.delete(whole);
        if (this.isLastOn(socket)) this.#on.delete(socket);
        else this.#on.set(socket, this.#countOn(socket) - 1);
      });
    this.#all.add(whole);
  }

  /** Whether no more than one answer is still to come on this connection. */
  isLastOn(socket: Socket): boolean {
    return this.#countOn(socket) <= 1;
  }

  /** Resolves when none is left, those that come meanwhile included. */
  async settled(): Promise<void> {
    while (this.#all.size > 0) await Promise.all(this.#all);
  }

  #countOn(socket: Socket): number {
    return this.#on.get(socket) ?? 0;
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
