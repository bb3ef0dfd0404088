/** How a new model is tried before it takes the place of the old one. */
export interface Probe<Model, Sample> {
  /** What a model makes of fixed inputs. Taken of the old one first: it may be gone when the new one is loaded. */
  sample(model: Model, signal: AbortSignal): Promise<Sample>;
  /**
   * @param old of the model whose place it would take
   * @param first of the one that was there at the beginning: what the model is given is prepared for that
   * @throws MillraceError that says why the new model may not take over
   */
  judge(next: Sample, old: Sample, first: Sample): void;
}
