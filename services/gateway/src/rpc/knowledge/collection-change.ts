import { ErrorReason } from "@reeve/contracts/error";
import type { UpdateCollectionRequest } from "@reeve/contracts/extensions/knowledge";
import type { CollectionChange } from "@reeve/knowledge/collection-editor";
import { Failure } from "@reeve/platform/failure";

const changeable: ReadonlySet<string> = new Set(["title", "readers", "reader_groups"]);

/**
 * Returns the change that a request asks for: of the fields that its mask names, or without a mask of those that are set. Throws a
 * Failure for a mask that names another field.
 */
export function collectionChange(request: UpdateCollectionRequest): CollectionChange {
  const { collectionId, title, readers, readerGroups, updateMask, revision } = request;
  const paths = new Set(updateMask?.paths);
  for (const path of paths) {
    if (!changeable.has(path)) throw unknownPath(path);
  }
  const isNamed = (path: string, isSet: boolean) => (paths.size === 0 ? isSet : paths.has(path));
  return {
    collectionId,
    revision,
    ...(isNamed("title", title !== "") && { title }),
    ...(isNamed("readers", readers.length > 0) && { readers }),
    ...(isNamed("reader_groups", readerGroups.length > 0) && { readerGroups }),
  };
}

function unknownPath(path: string): Failure {
  const description = `names "${path.slice(0, 100)}"; name ${[...changeable].join(", ")}`;
  return new Failure("invalid", ErrorReason.INVALID_REQUEST, `update_mask ${description}`, {
    violations: [{ field: "update_mask", description, reason: "UNKNOWN_FIELD" }],
  });
}
