import { objectStoreOf } from "@reeve/contracts/channel";
import { CollectionRecordSchema } from "@reeve/contracts/extensions/knowledge";

/** The object store of the text of documents. Their descriptions are in the bucket of collections. */
export const collectionTextBucket = objectStoreOf(CollectionRecordSchema);
