import { chunkers } from './chunk.bench.js';
import { embedBacklog } from './embed-backlog.bench.js';
import { embed } from './embed.bench.js';
import { keepsBar, type Benchmark } from './figure.js';
import { keep } from './keep.bench.js';
import { live } from './live.bench.js';
import { memory } from './memory.bench.js';
import { onnx } from './onnx.bench.js';
import { pipeline } from './pipeline.bench.js';
import { search } from './search.bench.js';
import { serve } from './serve.bench.js';
import { sources } from './sources.bench.js';
import { sinks } from './sinks.bench.js';
import { swap } from './swap.bench.js';
import { toItsEnd } from './to-its-end.js';

/** Every benchmark by its name. */
const benchmarks: { readonly [name: string]: Benchmark } = {
  pipeline,
  chunk: chunkers,
  memory,
  onnx,
  embed,
  'embed-backlog': embedBacklog,
  serve,
  live,
  swap,
  sinks,
  keep,
  search,
  sources,
};

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** `npm run bench -- NAME`: one JSON line a figure. The exit code is 1 when a figure misses its bar. */
async function main(names: readonly string[]): Promise<number> {
  const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name));
  if (names.length === 0 || unknown.length > 0) {
    for (const name of unknown) say(`There is no benchmark "${name}".`);
    say('npm run bench -- NAME, where NAME is one of:');
    for (const [name, { about }] of Object.entries(benchmarks)) say(`  ${name.padEnd(13)} ${about}`);
    return unknown.length > 0 ? 2 : 0;
  }
  let missed = 0;
  for (const name of names)
    for await (const figure of benchmarks[name]!.run(say)) {
      process.stdout.write(`${JSON.stringify(figure)}\n`);
      if (!keepsBar(figure)) missed += 1;
    }
  if (missed > 0) say(`${missed} ${missed === 1 ? 'figure misses its' : 'figures miss their'} bar.`);
  return missed > 0 ? 1 : 0;
}

process.exitCode = await toItsEnd(main(process.argv.slice(2)));
