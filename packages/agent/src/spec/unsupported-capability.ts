/** The reason of a violation by a request for what this version or this deployment does not have. */
export const unsupportedCapability = "UNSUPPORTED_CAPABILITY";
