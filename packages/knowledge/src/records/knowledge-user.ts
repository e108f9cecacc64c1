import type { Collection, CollectionRecord } from "@reeve/contracts/extensions/knowledge";

/** Who reads or changes a collection. */
export interface KnowledgeUser {
  readonly tenant: string;
  readonly subject: string;
  /** The groups of the user, and `role:NAME` for each role. Default: none. */
  readonly groups?: ReadonlySet<string>;
  /** Whether the user may see and change every collection of the tenant. Does not permit to search it. Default: false. */
  readonly isOperator?: boolean;
}

/** Whether a collection has readers of its own, so that not everybody in the tenant may read it. */
export function isRestricted(
  collection: Pick<Collection, "readers" | "readerGroups"> | undefined,
): boolean {
  if (collection === undefined) return true;
  return collection.readers.length > 0 || collection.readerGroups.length > 0;
}

/** Whether a user may search a collection. */
export function mayRead(
  { subject, groups }: KnowledgeUser,
  { collection }: CollectionRecord,
): boolean {
  if (collection === undefined) return false;
  const { readers, readerGroups, createdBy } = collection;
  return (
    !isRestricted(collection) ||
    createdBy === subject ||
    readers.includes(subject) ||
    readerGroups.some((group) => groups?.has(group) === true)
  );
}

/** Whether a user may know of a collection, and of its documents. */
export function maySee(user: KnowledgeUser, record: CollectionRecord): boolean {
  return user.isOperator === true || mayRead(user, record);
}
