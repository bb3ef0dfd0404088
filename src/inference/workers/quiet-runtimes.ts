/**
 * ONNX Runtime tells its maker how it is used, and leaves a file of each process in the temporary folder, unless the
 * environment says no when it is loaded. A worker thread has only a copy of the environment, which native code does not
 * see: it is said in the process that the workers are started from. What an operator has set stays.
 */
export function quietRuntimes(env: NodeJS.ProcessEnv = process.env): void {
  env['ORT_DISABLE_TELEMETRY'] ??= '1';
}
