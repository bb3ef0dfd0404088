import { everyOrder, races } from './races.js';

/** `npm run test:race`: every race in every order with every accident, first without kept texts. Hours. */
const accidents = [
  { kill: 2, lose: 0, double: 0 },
  { kill: 1, lose: 1, double: 0 },
  { kill: 0, lose: 1, double: 1 },
];
for (const keepText of [false, true])
  for (const most of accidents)
    for (const race of races) {
      const { states, ends } = await everyOrder(race, most, keepText);
      const how = `${JSON.stringify(most)}${keepText ? ', texts kept' : ''}`;
      console.log(`${race.name}, ${how}: ${states} states, ${ends} ends, all right`);
    }
