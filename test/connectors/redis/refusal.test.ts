import { expect, test } from 'vitest';
import { redisSourceConfig } from '../../../connectors/redis/config.js';
import { refused } from '../../../connectors/redis/refusal.js';

const config = redisSourceConfig.parse({ url: 'redis://localhost', stream: 'tickets' });

test('a lost connection is told apart from a refusal by the server', () => {
  expect(refused(config, new Error('Socket timeout')).message).toContain('was lost');
  const reply = Object.assign(new Error('WRONGTYPE Operation against a key'), { name: 'ReplyError' });
  expect(refused(config, reply).message).toContain('refuses');
});

test('a node of a cluster that holds another part says which address is wrong', () => {
  const reply = Object.assign(new Error('MOVED 3999 127.0.0.1:6381'), { name: 'ReplyError' });
  expect(refused(config, reply).hint).toMatch(/another node holds this stream/);
});
