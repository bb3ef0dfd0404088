import type { z } from 'zod';
import type { PipelineInput } from './schema.js';

type RoleName = 'source' | 'sink' | 'failed' | 'updates';

/** `{ files: … }`: what a configuration may say in a role, one connector of a registry and its settings. */
type RoleInput<Registry, Name extends RoleName, Beside = unknown> = {
  [Connector in keyof Registry]: Registry[Connector] extends {
    readonly [name in Name]: { readonly schema: infer Schema extends z.ZodType };
  }
    ? { readonly [name in Connector]: z.input<Schema> } & Beside
    : never;
}[keyof Registry];

type Refresh = NonNullable<PipelineInput['refresh']>;

/** The input of a pipeline, with the settings of each connector of a registry by name. */
export type PipelineInputOf<Registry> = Omit<PipelineInput, 'source' | 'sink' | 'failed' | 'refresh'> & {
  readonly source: RoleInput<Registry, 'source'>;
  readonly sink?: RoleInput<Registry, 'sink'> | undefined;
  readonly failed?: RoleInput<Registry, 'failed', { readonly retention?: string | undefined }> | undefined;
  readonly refresh?:
    (Omit<Refresh, 'events'> & { readonly events?: RoleInput<Registry, 'updates'> | undefined }) | undefined;
};
