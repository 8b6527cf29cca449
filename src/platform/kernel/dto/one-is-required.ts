/** Extension of schemas and operations in the OpenAPI document: lists of fields or parameters of which a request must have at least one. */
export const ONE_IS_REQUIRED = 'x-one-is-required';
