/** Another connection reads the slot. */
export const slotBusy = '55006';

/** Five characters, from an error that the server itself reported: only those have a severity. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('severity' in error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
