/** How a new model is tried before it takes the place of the old one. */
export interface Probe<Model, Sample> {
  /** What a model makes of fixed inputs. Taken of the old one first: it may be gone when the new one is loaded. */
  sample(model: Model, signal: AbortSignal): Promise<Sample>;
  /** @throws MillraceError that says why the new model may not take over */
  judge(next: Sample, old: Sample): void;
}
