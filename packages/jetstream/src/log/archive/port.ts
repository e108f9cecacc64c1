/**
 * What became of a log: it is `archived`; it is `closed`, and its marker can be removed later; it has `changed` meanwhile, so that it can be
 * archived later; or its stream has `nothing` of it.
 */
export type ArchiveOutcome = "archived" | "closed" | "changed" | "nothing";

/** Moves logs that have ended to the archive, where they cost the store no memory. Readers and writers notice nothing. */
export interface LogArchiver<Key> {
  /** Archives a log, or does what is left to do for one that was begun. Can be repeated, and by several processes at once. */
  archive(key: Key, signal: AbortSignal): Promise<ArchiveOutcome>;
}
