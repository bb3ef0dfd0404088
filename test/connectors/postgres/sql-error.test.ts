import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { classifySqlError } from '../../../connectors/postgres/sql-error.js';
import { freePort } from '../../support/services/free-port.js';

test('a host with several addresses, none of which answers, is told as one that nobody listens on', async () => {
  const socket = connect({
    host: 'several',
    port: await freePort(),
    autoSelectFamily: true,
    lookup: (_host, _options, done) =>
      done(null, [
        { address: '127.0.0.1', family: 4 },
        { address: '127.0.0.2', family: 4 },
      ]),
  });
  const [thrown] = (await once(socket, 'error').catch((error: unknown) => [error])) as [unknown];
  expect(thrown).toBeInstanceOf(AggregateError);
  expect(classifySqlError(thrown, 'Postgres at several', true)).toMatchObject({
    code: 'store_unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
    hint: expect.stringContaining('running'),
  });
});
