/** The nonce of this page, which the server requires of style sheets that are made here. */
export const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';

// Libraries below Mantine read it here (get-nonce).
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;
