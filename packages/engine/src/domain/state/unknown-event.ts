/** A log holds an event that this version does not know. The run is given back untouched, for a newer worker. */
export class UnknownEvent extends Error {
  override readonly name = "UnknownEvent";
  readonly sequence: number;

  constructor(sequence: number) {
    super(`event ${sequence} is of a kind that this version does not know`);
    this.sequence = sequence;
  }
}
