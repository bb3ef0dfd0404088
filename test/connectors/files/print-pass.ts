import { readOnce } from './bed.js';

// A process of its own, so that it can run as another user: prints what one pass over a folder finds.
const { found, completes, notices } = await readOnce(process.argv[2]!);
console.log(
  JSON.stringify({
    found,
    except: completes.map(({ scope }) => scope.except),
    notices: notices.map(({ code }) => code),
  }),
);
