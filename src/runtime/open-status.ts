import type { Admission } from '../flow/admission.js';
import type { Releasers } from '../flow/releasers.js';
import type { UnderWay } from '../flow/under-way.js';
import type { Report } from '../observability/events.js';
import { createHealth } from '../observability/health.js';
import { createStatusServer } from '../observability/http/status-server.js';
import type { Redact } from '../observability/redact.js';
import type { HttpSpec } from '../pipeline/spec.js';

export interface Status {
  /** Counts an event. */
  readonly see: Report;
  /** Shows what is under way from now on. */
  watch(admission: Admission, underWay: UnderWay): void;
}

/**
 * Opens `/health` and `/metrics` of a run, before its models are loaded.
 * @throws MillraceError `config_invalid` when the address cannot be had
 */
export async function openStatus(
  http: HttpSpec,
  { releasers, redact }: { readonly releasers: Releasers; readonly redact: Redact },
): Promise<Status & { readonly url: string }> {
  // The library loads no metrics unless somebody asks for them.
  const { createMetrics } = await import('../observability/metrics.js');
  const metrics = createMetrics();
  const health = createHealth();
  const server = createStatusServer({
    metrics,
    token: http.token,
    health: {
      state: () => {
        const { ready, reasons } = health.state();
        return { ready, reasons: reasons.map(redact) };
      },
    },
  });
  const url = await server.listen(http);
  releasers.push(() => server.close());
  metrics.gauge('ready', '1 while nothing stands still.', () => (health.state().ready ? 1 : 0));
  return {
    url,
    see: (event) => {
      metrics.see(event);
      health.see(event);
    },
    watch: (admission, underWay) => {
      const { gauge } = metrics;
      gauge('documents_under_way', 'Documents between source and store.', () => admission.underWay.elements);
      gauge('bytes_under_way', 'Bytes of their texts.', () => admission.underWay.bytes);
      gauge(
        'oldest_under_way_seconds',
        'Age of the oldest delivery between source and store: of the queue.',
        () => underWay.oldestMs / 1_000,
      );
    },
  };
}
