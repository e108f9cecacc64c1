import type { EventRange } from "../port.ts";

/** Returns the events of a range after a sequence. Their size is that of the whole range, or not known if that is not. */
export function rangeAfter<Event>(
  { events, tail, batchTails, bytes }: EventRange<Event>,
  afterSequence: number,
): EventRange<Event> {
  const before = tail.sequence - events.length;
  return {
    ...(bytes !== undefined && { bytes }),
    events: events.slice(Math.max(0, afterSequence - before)),
    tail,
    batchTails: batchTails.filter(({ sequence }) => sequence > afterSequence),
  };
}
