/** Whose call of a model it is. */
export interface RequestOwner {
  readonly tenant: string;
  readonly runId: string;
}
