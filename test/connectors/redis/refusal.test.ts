import { expect, test } from 'vitest';
import { redisSourceConfig } from '../../../connectors/redis/config.js';
import { refused } from '../../../connectors/redis/refusal.js';

const config = redisSourceConfig.parse({ url: 'redis://localhost', stream: 'tickets' });

test('a lost connection is told apart from a refusal by the server', () => {
  expect(refused(config, new Error('Socket timeout')).message).toContain('was lost');
  const reply = Object.assign(new Error('WRONGTYPE Operation against a key'), { name: 'ReplyError' });
  expect(refused(config, reply).message).toContain('refuses');
});
