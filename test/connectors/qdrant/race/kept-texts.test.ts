import { expect, it } from 'vitest';
import { everyOrder, races } from './races.js';

const patience = { timeout: 60_000 };

it.each(races)(
  'in every order, killed anywhere, with what the source gave: $name',
  patience,
  async (race) => {
    const { states } = await everyOrder(race, { kill: 1, lose: 0, double: 0 }, true);
    expect(states).toBeGreaterThan(200);
  },
);
