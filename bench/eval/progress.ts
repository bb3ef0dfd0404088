/** Shows how far the work is on stderr: one line that is written over on a terminal, else a line where work ends. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr) {
  return (label: string, done: number, total: number): void => {
    const line = `${label}: ${done} of ${total} texts`;
    if (stream.isTTY) stream.write(`\r\x1b[K${line}${done === total ? '\n' : ''}`);
    else if (done === total) stream.write(`${line}\n`);
  };
}
