import type { Stage } from '../contracts/failed-store.js';
import type { Route } from './route.js';

/** How far an element has come, so that a failure can say where it happened. */
export interface Trace {
  stage: Stage;
  /** Once it is known. */
  route: Route | undefined;
}
