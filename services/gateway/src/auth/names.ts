/** What the name of a tenant looks like. */
export const tenantName = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** What the name of a subject looks like, without the characters that separate entries of token lists. */
export const subjectName = /^[^\s/,\p{C}]{1,128}$/u;
