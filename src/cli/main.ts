#!/usr/bin/env node
import { connectors } from '../../connectors/registry.js';
import { loadConfig } from '../config/load.js';
import { auditCommand } from './audit-command.js';
import { checkCommand } from './check-command.js';
import type { CommandContext } from './command.js';
import { doctorCommand } from './doctor-command.js';
import { exitCode, exitCodeOf } from './exit-code.js';
import {
  failedDiscardCommand,
  failedPurgeCommand,
  failedListCommand,
  failedReplayCommand,
  failedShowCommand,
} from './failed-command.js';
import {
  generationsDropCommand,
  generationsListCommand,
  generationsRollbackCommand,
  generationsStartCommand,
  generationsSwitchCommand,
} from './generations-command.js';
import { modelsListCommand, modelsPullCommand, modelsVerifyCommand } from './models-command.js';
import { outliveReaders } from './outlive-readers.js';
import { createOutput } from './output.js';
import { printError } from './print-error.js';
import { createProgram } from './program.js';
import { stuckError } from './stuck-error.js';
import { queryCommand } from './query-command.js';
import { runCommand } from './run-command.js';
import { modelCacheFolder } from './model-cache-folder.js';

outliveReaders([process.stdout, process.stderr]);
const output = createOutput(process.argv.includes('--json'));
const cacheFolder = modelCacheFolder(process.env);
const context: CommandContext = {
  output,
  connectors,
  cacheFolder,
  env: process.env,
  load: (path) => loadConfig(path, { env: process.env, connectors, cacheFolder }),
};

const program = createProgram(
  {
    run: runCommand,
    check: checkCommand,
    audit: auditCommand,
    query: queryCommand,
    failedList: failedListCommand,
    failedShow: failedShowCommand,
    failedReplay: failedReplayCommand,
    failedDiscard: failedDiscardCommand,
    failedPurge: failedPurgeCommand,
    generationsList: generationsListCommand,
    generationsStart: generationsStartCommand,
    generationsSwitch: generationsSwitchCommand,
    generationsRollback: generationsRollbackCommand,
    generationsDrop: generationsDropCommand,
    modelsList: modelsListCommand,
    modelsPull: modelsPullCommand,
    modelsVerify: modelsVerifyCommand,
    // Its metrics are loaded for it alone.
    serve: async (...args) => (await import('./serve-command.js')).serveCommand(...args),
    doctor: doctorCommand,
  },
  context,
  (code) => (process.exitCode = code),
);

// Node ends without a word where all that a command still waits for is a promise that nobody will ever settle.
const tellStuck = () => {
  printError(stuckError(), output);
  process.exitCode = exitCode.fault;
};
process.once('beforeExit', tellStuck);
try {
  await program.parseAsync(process.argv);
} catch (error) {
  if (isUsageEnd(error)) process.exitCode = error.exitCode === 0 ? exitCode.ok : exitCode.usage;
  else {
    printError(error, output);
    process.exitCode = exitCodeOf(error);
  }
}

process.off('beforeExit', tellStuck);

// What was given up may still hold the process: a function of the user that pays no heed to its signal.
if (process.exitCode === exitCode.aborted) process.exit();

/** Commander ends a parse (help, version, a wrong argument) by a throw that carries the exit status. */
function isUsageEnd(error: unknown): error is { exitCode: number } {
  return (
    error instanceof Error &&
    'exitCode' in error &&
    'code' in error &&
    String(error.code).startsWith('commander.')
  );
}
