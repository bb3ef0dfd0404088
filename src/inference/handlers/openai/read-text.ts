/** The text of an answer up to so many bytes. @returns undefined in place of a longer one, unless `cut` */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  mostBytes: number,
  cut: boolean,
): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes <= mostBytes) continue;
    if (!cut) return undefined;
    break;
  }
  const all = Buffer.concat(parts);
  return all.subarray(0, mostBytes).toString('utf8');
}
