import { access, constants, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import { installOnnxRuntime } from '../inference/handlers/onnx/install-onnx-runtime.js';
import { bundledFolder } from '../inference/models/resolve-model.js';
import { verifyModel } from '../inference/models/verify-model.js';
import { availableCores, defaultWorkerCount } from '../inference/workers/cores.js';
import type { Command } from './command.js';
import { exitCode } from './exit-code.js';
import { packageVersion } from './package-version.js';

interface Symptom {
  readonly what: string;
  readonly well: boolean;
  readonly detail: string;
  /** What to do, where it is not well. */
  readonly remedy?: string;
  /** Only some pipelines need it. */
  readonly optional?: boolean;
}

/** `millrace doctor`: what this machine offers, and what is missing. */
export const doctorCommand: Command<[]> = async ({ output, cacheFolder }) => {
  const symptoms = [
    node(),
    machine(),
    await bundledModel(),
    installed('@electric-sql/pglite'),
    onnxRuntime(),
    await cache(cacheFolder),
  ];
  for (const symptom of symptoms) {
    output.data(symptom);
    const mark = symptom.well ? 'ok  ' : symptom.optional ? 'none' : 'FAIL';
    output.line(`${mark} ${symptom.what}: ${symptom.detail}`);
    if (!symptom.well && symptom.remedy !== undefined) output.line(`     ${symptom.remedy}`);
  }
  return symptoms.every(({ well, optional }) => well || optional) ? exitCode.ok : exitCode.fault;
};

function node(): Symptom {
  const [major, minor] = process.versions.node.split('.').map(Number) as [number, number];
  return {
    what: 'Node',
    well: major > 20 || (major === 20 && minor >= 19),
    detail: `${process.version} on ${process.platform} ${process.arch}; millrace ${packageVersion()}`,
    remedy: 'Millrace needs Node 20.19 or newer.',
  };
}

function machine(): Symptom {
  const memory = `${(totalmem() / 2 ** 30).toFixed(1)} GiB`;
  return {
    what: 'machine',
    well: true,
    detail: `${availableCores()} CPUs, ${memory} memory; ${defaultWorkerCount()} workers by default`,
  };
}

async function bundledModel(): Promise<Symptom> {
  const bad = (await verifyModel(bundledFolder())).filter(
    ({ state }) => state === 'altered' || state === 'missing',
  );
  return {
    what: 'bundled model',
    well: bad.length === 0,
    detail: bad.length === 0 ? 'intact' : bad.map(({ path, state }) => `${path} ${state}`).join(', '),
    remedy: 'Install millrace again.',
  };
}

function onnxRuntime(): Symptom {
  return {
    ...installed('onnxruntime-node'),
    optional: true,
    remedy: `Only for \`onnx\` models: ${installOnnxRuntime}`,
  };
}

function installed(name: string): Symptom {
  try {
    const path = createRequire(import.meta.url).resolve(name);
    return { what: name, well: true, detail: dirname(path) };
  } catch {
    return { what: name, well: false, detail: 'not installed', remedy: `npm install ${name}` };
  }
}

async function cache(folder: string): Promise<Symptom> {
  const what = 'model cache';
  if ((await stat(folder).catch(() => undefined)) === undefined)
    return { what, well: true, detail: `${folder}, made at the first download` };
  try {
    await access(folder, constants.W_OK);
    return { what, well: true, detail: folder };
  } catch {
    return {
      what,
      well: false,
      optional: true,
      detail: `${folder} cannot be written to`,
      remedy: 'Set HF_HOME to another folder.',
    };
  }
}
