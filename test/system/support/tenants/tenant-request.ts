/** A text in everything that belongs to the owner. */
export const secret = "text-of-the-owner";

/** Ids of what belongs to the owner. The test sets them. */
export const ids = {
  run: "",
  artifact: "",
  document: "",
  memory: "",
  approval: "",
  grant: "grt_theirs00-2-0",
};

/** A request, and the answers of the gateway to two tenants. */
export interface TenantRequest {
  /** The request: a message, or the messages of a stream. */
  request(): object;
  /** Why the stranger is refused. Undefined: the stranger gets an answer about its own tenant. */
  readonly stranger?: string;
  /** Why the owner is refused. Undefined: the owner gets an answer. */
  readonly owner?: string;
  /** Whether an answer is a stream that may stay silent, and then ends with its deadline. */
  readonly isWatch?: true;
}
