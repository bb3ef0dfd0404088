/** A number from 0 to below 1, as `Math.random()`: tests hand in another. */
export type Chance = () => number;

/** The machine's own chance. */
export const systemChance: Chance = () => Math.random();
