import { Command as Program, InvalidArgumentError, Option } from 'commander';
import { duration } from '../elements/duration.js';
import { httpAddress } from './http-address.js';
import { searchModes } from '../retrieval/hit.js';
import { packageVersion } from './package-version.js';
import type { AuditFlags } from './audit-command.js';
import type { Command, CommandContext } from './command.js';
import type { ExitCode } from './exit-code.js';
import type { FailedFlags } from './failed-command.js';
import type { FillFlags, SwitchFlags } from './generations-command.js';
import type { ModelFlags } from './models-command.js';
import type { QueryFlags } from './query-command.js';
import type { RunFlags } from './run-command.js';
import type { ServeFlags } from './serve-command.js';

export interface Commands {
  readonly run: Command<[config: string, flags: RunFlags]>;
  readonly check: Command<[config: string]>;
  readonly audit: Command<[config: string, flags: AuditFlags]>;
  readonly query: Command<[config: string, text: string, flags: QueryFlags]>;
  readonly failedList: Command<[config: string, flags: FailedFlags]>;
  readonly failedShow: Command<[config: string, id: string]>;
  readonly failedReplay: Command<[config: string, ids: readonly string[], flags: FailedFlags]>;
  readonly failedDiscard: Command<
    [config: string, ids: readonly string[], flags: FailedFlags & { all?: boolean }]
  >;
  readonly failedPurge: Command<[config: string, flags: { olderThan?: number }]>;
  readonly generationsList: Command<[config: string]>;
  readonly generationsStart: Command<[config: string, flags: FillFlags]>;
  readonly generationsSwitch: Command<[config: string, flags: SwitchFlags]>;
  readonly generationsRollback: Command<[config: string, flags: FillFlags]>;
  readonly generationsDrop: Command<[config: string, number: number]>;
  readonly modelsList: Command<[]>;
  readonly modelsPull: Command<[model: string, flags: ModelFlags]>;
  readonly modelsVerify: Command<[model: string | undefined, flags: ModelFlags]>;
  readonly serve: Command<[config: string | undefined, flags: ServeFlags]>;
  readonly doctor: Command<[]>;
}

/** The command line: words and flags, and which command they call. */
export function createProgram(
  commands: Commands,
  context: CommandContext,
  end: (code: ExitCode) => void,
): Program {
  const program = new Program('millrace')
    .description('Keeps vector stores right: from changing data through chunking and embedding into a store.')
    .version(packageVersion())
    .exitOverride()
    .configureHelp({ showGlobalOptions: true });

  const add = (parent: Program, usage: string, description: string) =>
    parent.command(usage).description(description).option('--json', 'print JSON lines, for programs');
  const call = async (code: Promise<ExitCode>) => end(await code);

  add(program, 'run <config>', 'bring the source into the store')
    .option('--watch', 'go on, and follow changes, until stopped')
    .option('--until-idle', 'end once all there is for now is done: for sources without an end (streams)')
    .option(
      '--http <port>',
      '/health and /metrics on this port, or host:port (MILLRACE_TOKEN beyond loopback)',
      httpAddress,
    )
    .addOption(
      new Option(
        '--log <format>',
        'lines for people or JSON, one an event; default: JSON unless on a terminal',
      ).choices(['text', 'json']),
    )
    .option('--allow-mass-deletion', 'delete however many documents are gone from the source')
    .action((config: string, flags: RunFlags) => call(commands.run(context, config, flags)));

  add(
    program,
    'check <config>',
    'look at configuration, connections, models and disk; writes nothing',
  ).action((config: string) => call(commands.check(context, config)));

  add(program, 'audit <config>', 'compare what the store holds with what the source holds now')
    .option('--repair', 'mend what is missing, stale or orphaned')
    .option('--allow-mass-deletion', 'also where the repair deletes a large share of the store')
    .action((config: string, flags: AuditFlags) => call(commands.audit(context, config, flags)));

  add(program, 'query <config> <text>', 'find the passages nearest to a text')
    .option('-k <count>', 'how many passages', wholeNumber, 5)
    .addOption(
      new Option(
        '--filter <filter>',
        'only where a metadata field has a value: field=value, or a filter as JSON; may be repeated, all must hold',
      )
        .argParser((value: string, earlier: readonly string[]) => [...earlier, value])
        .default([] as readonly string[], 'none'),
    )
    .addOption(
      new Option('--mode <mode>', 'find by vectors, by words, or by both, fused by rank')
        .choices(searchModes)
        .default('dense'),
    )
    .option('--route <key>', 'ask only the models of this route; default: all, fused by rank')
    .option('--threshold <cosine>', 'only what is at least so similar, from -1 to 1', Number)
    .option('--tenant <name>', 'only documents of this tenant')
    .option('--all-tenants', 'documents of all tenants')
    .option('--neighbours <count>', 'print each passage with so many chunks before and after it', Number)
    .action((config: string, text: string, flags: QueryFlags) =>
      call(commands.query(context, config, text, flags)),
    );

  const failed = program.command('failed').description('the elements that failed, and what to do about them');
  const filtered = (command: Program) =>
    command
      .option('--code <code>', 'only failures with this error code')
      .addOption(
        new Option('--stage <stage>', 'only failures of this stage').choices([
          'source',
          'enrich',
          'preprocess',
          'infer',
          'postprocess',
          'chunk',
          'embed',
          'store',
        ]),
      )
      .option('--prefix <prefix>', 'only documents whose id begins with this');
  filtered(add(failed, 'list <config>', 'one line a failed element')).action(
    (config: string, flags: FailedFlags) => call(commands.failedList(context, config, flags)),
  );
  add(failed, 'show <config> <id>', 'one failed element whole').action((config: string, id: string) =>
    call(commands.failedShow(context, config, id)),
  );
  filtered(add(failed, 'replay <config> [ids...]', 'send failed elements through the chain again')).action(
    (config: string, ids: string[], flags: FailedFlags) =>
      call(commands.failedReplay(context, config, ids, flags)),
  );
  filtered(add(failed, 'discard <config> [ids...]', 'forget failed elements'))
    .option('--all', 'all of them')
    .action((config: string, ids: string[], flags: FailedFlags & { all?: boolean }) =>
      call(commands.failedDiscard(context, config, ids, flags)),
    );

  add(failed, 'purge <config>', 'forget failed elements that are kept longer than `failed.retention` says')
    .option('--older-than <time>', 'or that last failed so long ago, such as 30d', timeSpan)
    .action((config: string, flags: { olderThan?: number }) =>
      call(commands.failedPurge(context, config, flags)),
    );

  const generations = program
    .command('generations')
    .description('fillings of the store by different models, one of which is read');
  const filling = (command: Program) =>
    command.option('--rate <documents>', 'documents a second at most', positive);
  const remaking = (command: Program) =>
    filling(command).option(
      '--from-source',
      'for another chunker or enrichment, where the sink does not keep texts: read them from the source',
    );
  add(generations, 'list <config>', 'one line a generation').action((config: string) =>
    call(commands.generationsList(context, config)),
  );
  remaking(
    add(
      generations,
      'start <config>',
      'fill a generation for the configured chain, beside the one that is read',
    ),
  ).action((config: string, flags: FillFlags) => call(commands.generationsStart(context, config, flags)));
  remaking(
    add(generations, 'switch <config>', 'fill what is left, compare, and make it the one that is read'),
  )
    .option('--overlap <share>', 'neighbours that both must have in common, 0 to 1', share)
    .action((config: string, flags: SwitchFlags) => call(commands.generationsSwitch(context, config, flags)));
  filling(add(generations, 'rollback <config>', 'switch back to the generation that was read before')).action(
    (config: string, flags: FillFlags) => call(commands.generationsRollback(context, config, flags)),
  );
  add(generations, 'drop <config>', 'remove a generation that is not read')
    .argument('<number>', 'as `list` shows it', wholeNumber)
    .action((config: string, number: number) => call(commands.generationsDrop(context, config, number)));

  const models = program.command('models').description('models on this machine and on the hub');
  add(models, 'list', 'the models that are here').action(() => call(commands.modelsList(context)));
  const modelFlags = (command: Program) =>
    command
      .option('--revision <revision>', 'branch, tag or commit on the hub')
      .addOption(
        new Option('--handler <handler>', 'which files are wanted')
          .choices(['onnx', 'static'])
          .default('onnx'),
      )
      .option('--hub-url <url>', 'another hub than the public one');
  modelFlags(add(models, 'pull <model>', 'fetch a model from the hub')).action(
    (model: string, flags: ModelFlags) => call(commands.modelsPull(context, model, flags)),
  );
  modelFlags(
    add(models, 'verify [model]', 'check the files of a model, or of all, against their digests'),
  ).action((model: string | undefined, flags: ModelFlags) =>
    call(commands.modelsVerify(context, model, flags)),
  );

  add(program, 'serve [config]', 'load models once and serve them to many processes (OpenAI-compatible)')
    .option('--model <model>', 'without a configuration: bundled, a folder, or a hub id')
    .addOption(new Option('--handler <handler>', 'what runs the model').choices(['onnx', 'static']))
    .addOption(
      new Option('--dtype <dtype>', 'which export of an onnx model').choices(['fp32', 'fp16', 'int8']),
    )
    .option('--host <host>', 'address to listen on; beyond loopback a token is needed (MILLRACE_TOKEN)')
    .option('--port <port>', 'port to listen on; 0 takes a free one', portNumber)
    .action((config: string | undefined, flags: ServeFlags) => call(commands.serve(context, config, flags)));

  add(program, 'doctor', 'what this machine offers, and what is missing').action(() =>
    call(commands.doctor(context)),
  );
  return program;
}

function timeSpan(text: string): number {
  const parsed = duration.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError(`${parsed.error.issues[0]!.message}.`);
  return parsed.data;
}

function portNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new InvalidArgumentError('expected a port from 0 to 65535.');
  return number;
}

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('expected a number above 0.');
  return number;
}

function share(text: string): number {
  const number = Number(text);
  if (!(number >= 0 && number <= 1)) throw new InvalidArgumentError('expected a number from 0 to 1.');
  return number;
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new InvalidArgumentError('expected a whole number from 1.');
  return number;
}
