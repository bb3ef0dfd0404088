import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Response } from './protocol.js';
import type { WorkerListener, WorkerPort } from './worker.js';

/**
 * A worker in a process of its own: what crashes natively in it ends only the call that it ran, and its memory goes back
 * to the system with it. Buffers are copied where a thread would be handed them.
 */
export function openProcessPort(name: string, listener: WorkerListener): WorkerPort {
  const child = fork(fileURLToPath(new URL('./process-main.js', import.meta.url)), [], {
    execArgv: ['--max-semi-space-size=2'],
    serialization: 'advanced',
    // What a library prints must not mix with what this process writes.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let fault: unknown;
  let ended = false;
  hold(false);
  child.on('message', (response) => listener.answered(response as Response));
  // It comes without an exit when the process could not be started at all.
  child.on('error', (error) => {
    fault = error;
    if (child.pid === undefined) end('it did not start');
  });
  child.once('close', (code, signal) => end(signal === null ? `exit code ${code}` : `signal ${signal}`));

  function end(how: string) {
    if (ended) return;
    ended = true;
    listener.ended(how, fault);
  }

  function hold(alive: boolean) {
    if (alive) {
      child.ref();
      child.channel?.ref();
    } else {
      child.unref();
      child.channel?.unref();
    }
  }

  return {
    name: `Worker process ${name}${child.pid === undefined ? '' : ` (pid ${child.pid})`}`,
    post(request) {
      // A process that is gone says so by its end, not by what cannot be sent to it.
      child.send(request, () => undefined);
    },
    hold,
    kill: () => void child.kill('SIGKILL'),
  };
}
