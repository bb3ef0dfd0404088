import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import { messageOf } from '../../../src/errors/message-of.js';
import { MillraceError } from '../../../src/errors/millrace-error.js';
import { MessageFrames } from './message-frames.js';

/** Of a connection of the driver, which its types do not tell of. */
export interface DivertedConnection {
  /** Begins to read messages. A parser gives `data`, whatever it is. */
  attachListeners(stream: EventEmitter): void;
}

const copyData = 0x64;

/**
 * Reads `CopyData` here, all other messages are the driver's: its own reader would copy the data, and keep what it copied
 * for long. What cannot be read ends the connection, with the error as its reason.
 * @param received is called with each content, from `from` up to `to`. The bytes are only valid during the call.
 */
export function divertData(
  connection: DivertedConnection,
  received: (bytes: Buffer, from: number, to: number) => void,
): void {
  const attach = connection.attachListeners.bind(connection);
  connection.attachListeners = (stream) => {
    const others = new EventEmitter();
    attach(others);
    const frames = new MessageFrames((bytes, from, to) => {
      if (bytes[from] === copyData) received(bytes, from + 5, to);
      else others.emit('data', bytes.subarray(from, to));
    });
    const socket = stream as Duplex;
    socket.on('data', (chunk: Buffer) => {
      try {
        frames.push(chunk);
      } catch (error) {
        socket.destroy(unreadable(error));
      }
    });
  };
}

function unreadable(cause: unknown): MillraceError {
  const why = messageOf(cause);
  return new MillraceError('source_unavailable', `What Postgres sent cannot be read: ${why}`, {
    cause,
    hint: 'Nothing of it was confirmed, so it comes again. Does anything on the way to the server change what it sends? Else this is a defect: report it with the version of the server.',
  });
}
