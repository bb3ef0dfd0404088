import { resolveModel } from '../../../src/inference/models/resolve-model.js';

// Pulls a model in a process of its own, so that a test can kill it: hub, cache folder, model, revision.
const [hubUrl, cacheFolder, model, revision] = process.argv.slice(2) as [string, string, string, string];
await resolveModel(model, {
  revision,
  hubUrl,
  cacheFolder,
  baseFolder: cacheFolder,
  select: (paths) => paths,
  onProgress: ({ bytesDone }) => console.log(bytesDone),
});
