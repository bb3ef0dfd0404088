import { MessageChannel } from 'node:worker_threads';

/**
 * A function that gives the memory of a buffer back at once; the buffer is empty from then on. Many large ones that are
 * left to the garbage collector make it collect again and again, however little else there is.
 *
 * What is moved to a closed port goes nowhere, and its memory with it.
 */
export function bufferFreer(): (buffer: ArrayBuffer) => void {
  const { port1 } = new MessageChannel();
  port1.close();
  return (buffer) => port1.postMessage(undefined, [buffer]);
}
