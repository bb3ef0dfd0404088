import { MessageChannel } from 'node:worker_threads';

/**
 * A function that gives the memory of a buffer back at once; the buffer is empty from then on. Many large ones that are
 * left to the garbage collector make it collect again and again, however little else there is.
 */
export function bufferFreer(): (buffer: ArrayBuffer) => void {
  const { port1 } = new MessageChannel();
  port1.close();
  return (buffer) => {
    try {
      // What is moved to a closed port goes nowhere, and its memory with it.
      port1.postMessage(undefined, [buffer]);
    } catch {
      // Memory that is not V8's own, as a GPU's may be, cannot be moved: the garbage collector has it.
    }
  };
}
