/** Whether an object holds its fields and nothing else: a Date, a Map or another instance of a class is more than those. */
export function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
