/** The type of a node that is dragged from the list of types. */
export const dragType = "application/x-reeve-node-type";
