import type { Redis } from 'ioredis';

export type Command = readonly [name: string, ...args: (string | number)[]];

/** What the source asks of a connection. */
export interface Commands {
  /** @returns the reply: texts, numbers, null, and lists of them */
  call(...command: Command): Promise<unknown>;
  /** Several in one transaction. @returns their replies; an Error is the reply to that command */
  multi(commands: readonly Command[]): Promise<unknown[]>;
}

/** The commands of a client that does more. */
export function commandsOf(client: Redis): Commands {
  return {
    call: (name, ...args) => client.call(name, ...args),
    multi: async (commands) => {
      const replies = await client.multi(commands.map((command) => [...command])).exec();
      return (replies ?? []).map(([error, reply]) => error ?? reply);
    },
  };
}
