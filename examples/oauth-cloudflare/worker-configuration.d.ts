/** What this example uses of the types that `npx wrangler types` writes. */
declare module 'cloudflare:workers' {
  export const env: { readonly ORIGIN: string; readonly OAUTH_KV: object }
}
