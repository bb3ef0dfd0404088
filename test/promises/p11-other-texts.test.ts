import { otherTextsSuite } from '../suites/other-texts-suite.js';
import { usePglite } from './bed.js';

otherTextsSuite('PGlite', {
  openBed: usePglite(),
  sink: (bed, keepText) => {
    const { path } = bed.spec().sink.config as { path: string };
    return { pglite: { path, keepText } };
  },
});
