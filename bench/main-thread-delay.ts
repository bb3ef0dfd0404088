import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Watches the event loop until the function that it gives is called: the 99th percentile of its delay, in ms. */
export function watchDelay(): () => number {
  const delay = monitorEventLoopDelay({ resolution: 10 });
  delay.enable();
  return () => {
    delay.disable();
    return delay.percentile(99) / 1e6;
  };
}
