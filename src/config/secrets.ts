const secretKey = /(token|password|secret|api_?key|authorization)$/i;

/**
 * The secrets in a checked configuration: values under keys that name one, all values of `headers`, and the passwords of
 * addresses wherever they stand.
 */
export function secretsIn(value: unknown): string[] {
  const found = new Set<string>();
  collect(value, '', found);
  return [...found];
}

function collect(value: unknown, key: string, found: Set<string>): void {
  if (typeof value === 'string') {
    if (secretKey.test(key)) found.add(value);
    const password = passwordOf(value);
    if (password !== undefined) found.add(password);
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value))
    collect(inner, /^headers$/i.test(key) ? 'authorization' : Array.isArray(value) ? key : name, found);
}

function passwordOf(text: string): string | undefined {
  if (!text.includes('://') || !URL.canParse(text)) return undefined;
  const { password } = new URL(text);
  return password === '' ? undefined : decode(password);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
