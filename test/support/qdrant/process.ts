import { serveQdrant, type QdrantFault, type QdrantOptions } from './server.js';

export type ToDouble =
  { readonly fail: readonly QdrantFault[] } | { readonly forgive: true } | { readonly counts: true };

/** The process of the double: options as its argument, orders as messages; it ends with its parent. */
const server = await serveQdrant(JSON.parse(process.argv[2]!) as QdrantOptions);
process.on('message', (order: ToDouble) => {
  if ('fail' in order) server.fail(...order.fail);
  if ('forgive' in order) server.forgive();
  process.send!('counts' in order ? server.counts() : 'ok');
});
process.on('disconnect', () => process.exit(0));
process.send!(server.url);
