/** A log has an event of a kind that only a newer version knows. The run is given back unchanged, for a newer worker. */
export class UnknownEvent extends Error {
  override readonly name = "UnknownEvent";
  readonly sequence: number;

  constructor(sequence: number) {
    super(`event ${sequence} was written by a newer version; upgrade this worker`);
    this.sequence = sequence;
  }
}
