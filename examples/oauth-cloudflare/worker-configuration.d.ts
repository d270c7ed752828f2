/** What this example uses of the file that `npx wrangler types` writes. */
interface Env {
  readonly ORIGIN: string
  readonly OAUTH_KV: object
}

declare module 'cloudflare:workers' {
  export const env: Env
}
