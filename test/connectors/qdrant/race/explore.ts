import type { Engine } from '../../../support/qdrant/engine.js';
import { prepareWorld, startWorld, type Scenario, type Step, type World } from './world.js';

/** What is looked at. A throw ends the race and tells its schedule. */
export interface Looks {
  /** After each step. */
  now(world: World): void;
  /** Once no writer runs any more and the calls of the killed were made again. */
  recovered(world: World): Promise<void>;
}

/**
 * Every schedule of a scenario. Each state that steps lead to is looked at once, and each that the writers can end in is
 * recovered, before and after all late requests.
 * @returns how many states and how many ends there were
 */
export async function explore(
  scenario: Scenario,
  looks: Looks,
): Promise<{ readonly states: number; readonly ends: number }> {
  const from = await prepareWorld(scenario);
  const known = new Set<string>();
  let ends = 0;
  for (const open: (readonly Step[])[] = [[]]; open.length > 0;) {
    let schedule = open.pop()!;
    // One world goes on as long as it meets new states; the other ways from there begin anew.
    for (let world = await replay(from, scenario, schedule); ;) {
      const key = world.key();
      if (known.has(key)) break;
      known.add(key);
      await told(schedule, async () => looks.now(world));
      const [next, ...others] = world.options();
      for (const step of others) open.push([...schedule, step]);
      if (world.atRest()) {
        ends += 1;
        const end = next === undefined ? world : await replay(from, scenario, schedule);
        await told(schedule, () => recover(end, looks));
      }
      if (next === undefined) break;
      schedule = [...schedule, next];
      await world.take(next);
    }
  }
  return { states: known.size, ends };
}

/** One schedule, which a number chooses at each step. */
export async function follow(scenario: Scenario, looks: Looks, choices: readonly number[]): Promise<void> {
  const world = await startWorld(await prepareWorld(scenario), scenario);
  const schedule: Step[] = [];
  for (let at = 0; !world.atRest(); at++) {
    const options = world.options();
    const step = options[(choices[at] ?? 0) % options.length]!;
    schedule.push(step);
    await world.take(step);
    await told(schedule, async () => looks.now(world));
  }
  await told(schedule, () => recover(world, looks));
}

async function recover(world: World, looks: Looks): Promise<void> {
  await world.recover();
  await looks.recovered(world);
  await world.late();
  await looks.recovered(world);
}

async function replay(from: Engine, scenario: Scenario, schedule: readonly Step[]): Promise<World> {
  const world = await startWorld(from, scenario);
  for (const step of schedule) await world.take(step);
  return world;
}

async function told(schedule: readonly Step[], look: () => Promise<void>): Promise<void> {
  try {
    await look();
  } catch (cause) {
    const steps = schedule.map((step) => Object.values(step).join(' ')).join(', ');
    throw new Error(`After: ${steps}`, { cause });
  }
}
