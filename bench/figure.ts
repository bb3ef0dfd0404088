/** One line of `npm run bench`: a measured value, and the bar it must reach where there is one. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly bar?: number;
  readonly better?: 'higher' | 'lower';
}
