import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

/** Connections to one service, kept open between calls. */
export interface Connections {
  readonly agent: HttpAgent;
  /** Cuts all of them. */
  close(): void;
}

/** @param most connections at once */
export function openConnections(url: string, most: number): Connections {
  const options = { keepAlive: true, maxSockets: most };
  const agent = url.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
  return { agent, close: () => agent.destroy() };
}

export interface Post {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly agent: HttpAgent;
  readonly signal: AbortSignal;
}

/**
 * Sends a POST and resolves with the answer once its head is there. Node's own client takes half the processor time
 * of `fetch`, and no redirect is followed.
 * @throws Error of the connection; AbortError
 */
export async function exchange(post: Post): Promise<IncomingMessage> {
  try {
    return await once(post);
  } catch (error) {
    // The service had closed a kept connection just when it was used: it has not seen the call.
    if (error instanceof StaleConnection) return once(post);
    throw error;
  }
}

class StaleConnection extends Error {}

function once({ address, headers, body, agent, signal }: Post): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = address.startsWith('https:') ? httpsRequest : httpRequest;
    const request = send(address, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent,
      signal,
    });
    request.once('response', resolve);
    request.on('error', (error: NodeJS.ErrnoException) => {
      const stale = request.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted;
      reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    // A string goes out in one write with the head.
    request.end(body);
  });
}
