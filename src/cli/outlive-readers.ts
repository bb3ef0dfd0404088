/**
 * What is written for a reader that has gone (`| head`, a log collector that ended) is dropped, and the work goes on.
 * Without this Node ends the process in the middle of it.
 */
export function outliveReaders(streams: readonly NodeJS.WritableStream[]): void {
  for (const stream of streams)
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
}
