/** An answer that is no success, in the shape in which the client throws it. */
export class Refusal extends Error {
  readonly data: { readonly status: { readonly error: string }; readonly time: number };
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    this.data = { status: { error: message }, time: 0 };
  }
}
