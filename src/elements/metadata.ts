/** What JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Facts about a document that filters and answers use: a JSON object. */
export type Metadata = { readonly [key: string]: Json };
