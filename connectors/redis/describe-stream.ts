import { connect } from './client.js';
import type { RedisSourceConfig } from './config.js';
import { refused } from './refusal.js';

/** What is there, for people. Leaves no mark. @throws MillraceError `source_unavailable` */
export async function describeStream(config: RedisSourceConfig): Promise<string> {
  const client = await connect(config, { name: 'millrace', patient: false });
  try {
    const type = await client.type(config.stream);
    if (type === 'none') return `there is no stream ${JSON.stringify(config.stream)} yet`;
    const length = await client.xlen(config.stream);
    return `the stream ${JSON.stringify(config.stream)} has ${length} entries`;
  } catch (cause) {
    throw refused(config, cause);
  } finally {
    // One that is lost cannot say farewell.
    await client.quit().catch(() => client.disconnect());
  }
}
