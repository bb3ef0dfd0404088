import { expect, it } from 'vitest';
import { everyOrder, races } from './races.js';

const patience = { timeout: 60_000 };

// All of them with every accident: `npm run test:race`.
it.each(races)('in every order, killed anywhere, late requests or not: $name', patience, async (race) => {
  const { states, ends } = await everyOrder(race, { kill: 2, lose: 0, double: 0 });
  expect(states).toBeGreaterThan(200);
  expect(ends).toBeGreaterThan(100);
});

it('in every order, when requests come twice', patience, async () => {
  const { ends } = await everyOrder(races[3]!, { kill: 0, lose: 0, double: 1 });
  expect(ends).toBeGreaterThan(50);
});
