/** A position in the write-ahead log, in bytes. */
export type Lsn = bigint;

/** As Postgres prints it, `16/B374D848`: JSON cannot hold a bigint. */
export type LsnText = string;

export function parseLsn(text: LsnText): Lsn {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function printLsn(lsn: Lsn): LsnText {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase();
}
