/** What these examples use of the types that `npx wrangler types` writes for a project. */
declare module 'cloudflare:workers' {
  export const env: {
    readonly ORIGIN: string
    readonly OAUTH_KV: object
    readonly CHANGES: import('mayfly-mcp/cloudflare').DurableObjectNamespace
  }
}
