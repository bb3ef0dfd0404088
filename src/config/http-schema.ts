import { z } from 'zod';

/** Where a process listens, and what it asks of those who come. */
export const listenSettings = {
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('Address to listen on. Beyond loopback a token is needed.'),
  token: z
    .string()
    .min(16, 'expected at least 16 characters')
    .regex(/^[\x21-\x7e]+$/, 'expected printable ASCII without blanks')
    .optional()
    .describe(
      'Clients send it as `Authorization: Bearer …`. At least 16 characters. Take it from the environment: ${MILLRACE_TOKEN}.',
    ),
};

const port = z.int().min(0).max(65_535);

export const portSetting = (usual: number) =>
  port.default(usual).describe('Port to listen on; 0 takes a free one.');

/** The HTTP face of a run. */
export const httpSchema = z
  .strictObject({ port: portSetting(9464), ...listenSettings })
  .describe('`/metrics` (Prometheus) and `/health` of a run over HTTP. Default: none.');
