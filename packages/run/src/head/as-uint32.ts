const maxUint32 = 0xff_ff_ff_ff;

/** Returns a count as a field of an event holds it: an event with a larger number could not be stored. */
export function asUint32(count: number): number {
  return Math.min(Math.ceil(count), maxUint32);
}
