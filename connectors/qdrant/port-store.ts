import type { ConnectorContext } from '../../src/contracts/context.js';
import type { GenerationView } from '../../src/contracts/generations.js';
import type { Store, StoreLayout } from '../../src/contracts/store.js';
import { repairAlias } from './alias.js';
import { qdrantArtifacts } from './artifacts.js';
import { beginFirstFill, endFirstFill } from './bulk.js';
import type { QdrantConfig } from './config.js';
import { createQdrantSearch } from './create-search.js';
import { createQdrantSink } from './create-sink.js';
import { createQdrantGenerations } from './generations.js';
import { firstHead, keptSince } from './head-changes.js';
import { createHeadStore } from './head.js';
import { startKeeping, stopKeeping, sweepAllTexts } from './keep-setting.js';
import { qdrantKeptTexts } from './kept-texts.js';
import { prepareArtifacts, prepareLayout, prepareTexts } from './layout.js';
import { createLeaseWatch } from './leases.js';
import { collectionNames } from './names.js';
import { createPlaces, type Place } from './places.js';
import type { QdrantPort } from './port.js';
import { sampleVectors } from './sample-vectors.js';
import { live } from './search.js';
import { checkServer } from './server-version.js';
import { sweepTexts } from './sweep-texts.js';
import { sweepUnseen } from './sweep-unseen.js';
import { activeRole, followerRole, teller } from './write-roles.js';
import { createWriterLease } from './writer-lease.js';

const pointsPerRequest = 2000;

/** The store over any port. A store that nobody prepared reads as empty. */
export function createPortStore(
  port: QdrantPort,
  config: Omit<QdrantConfig, 'url' | 'apiKey' | 'timeout'>,
  { pipeline, clock }: ConnectorContext,
): Store {
  const first = collectionNames(config.prefix, pipeline);
  const heads = createHeadStore(port, first);
  const places = createPlaces(port, heads, config.prefix, pipeline);
  const lease = createWriterLease({ port, names: first, heads, pipeline, clock });
  const bounds = { items: pointsPerRequest, bytes: config.maxRequestMb * 1e6 };
  const artifactsOf = (number: number) => qdrantArtifacts(port, first, async () => number);
  /** What this store was prepared for: its generation stays. */
  let prepared: Place | undefined;
  const ours = async (signal?: AbortSignal) => prepared ?? (await places.active(signal));

  const roles = { port, heads, places, lease, pipeline };
  const active = activeRole(roles);
  const follower = followerRole(roles);
  const tell = (place: Place) => teller(roles, place);
  const watch = createLeaseWatch(port, first, clock);

  async function known(epoch: number, until?: () => boolean, signal?: AbortSignal): Promise<void> {
    await lease.show();
    await watch.allShow(epoch, until, signal);
  }
  const keeping = {
    ...{ port, heads, places, clock },
    known: (epoch: number, signal?: AbortSignal) => known(epoch, undefined, signal),
  };

  async function tune(place: Place | undefined, signal?: AbortSignal): Promise<void> {
    if (place === undefined) return;
    await sweepUnseen(port, place.names, 'chunks', tell(place), signal);
    if (await sweepTexts(port, place.names, await heads.read(signal), signal))
      await sweepUnseen(port, place.names, 'texts', tell(place), signal);
    const filled = { indexFrom: config.indexFrom, clock };
    await endFirstFill(port, place.names, artifactsOf(place.generation), filled, signal);
  }

  async function make(number: number, layout: StoreLayout): Promise<void> {
    const names = places.names(number);
    const bulk = await beginFirstFill(port, names, artifactsOf(number));
    await prepareLayout(port, names, { ...config, indexFrom: bulk ? 0 : config.indexFrom }, layout, clock);
    if (keptSince(await heads.read()) !== undefined) await prepareTexts(port, names, clock);
  }

  async function count(place: Place | undefined) {
    if (place === undefined) return { documents: 0, chunks: 0 };
    const { ledger, chunks } = place.names;
    return {
      documents: await port.count(ledger, { must: [{ key: 'state', match: { value: 'stored' } }] }),
      chunks: await port.count(chunks, { must: [live] }),
    };
  }

  function view(number: number): GenerationView {
    const locate = (signal?: AbortSignal) => places.at(number, signal);
    return {
      sink: createQdrantSink({ port, pipeline, clock, bounds, role: follower, locate }),
      search: createQdrantSearch({ port, pipeline, locate }),
      artifacts: artifactsOf(number),
      tune: async (signal) => tune(await locate(signal), signal),
      vectors: async (of, signal) => {
        const place = await locate(signal);
        return place === undefined ? new Map() : sampleVectors(port, place, pipeline, of, signal);
      },
    };
  }

  return {
    sink: createQdrantSink({ port, pipeline, clock, bounds, role: active, locate: ours }),
    search: createQdrantSearch({ port, pipeline, locate: places.active }),
    ...(config.tenant !== undefined && { tenant: config.tenant.split('.') }),
    artifacts: qdrantArtifacts(port, first, async () => (await ours())?.generation ?? 1),
    memory: artifactsOf(1),
    generations: createQdrantGenerations({
      ...{ port, heads, places, pipeline, clock, tell, view, count, known, make },
      sweepTexts: (signal) => sweepAllTexts(keeping, signal),
    }),
    texts: qdrantKeptTexts({ ...keeping, pipeline, bounds, role: active, tell }),
    prepare: async (layout) => {
      await checkServer(port);
      await prepareArtifacts(port, first, clock);
      await heads.change((head) => (head === undefined ? firstHead(clock.now()) : undefined));
      const number = (await heads.read())?.active ?? 1;
      await make(number, layout);
      if (config.keepText === true) await startKeeping(keeping, 'always');
      if (config.keepText === false) await stopKeeping(keeping);
      await repairAlias(port, heads, places);
      prepared = await places.at(number);
    },
    tune: async (signal) => {
      const place = await ours(signal);
      if (place === undefined) return;
      await tune(place, signal);
      await repairAlias(port, heads, places, signal);
    },
    count: async () => count(await ours()),
    close: () => lease.end(),
  };
}
