/** What these examples use of the types that `npx wrangler types` writes for a project. */
declare module 'cloudflare:workers' {
  export const env: {
    readonly ORIGIN: string
    readonly OAUTH_KV: object
    readonly CHANGES: import('mayfly-mcp/cloudflare').DurableObjectNamespace
    readonly SUBSCRIPTIONS: import('mayfly-mcp/cloudflare').DurableObjectNamespace
    readonly EVENTS: import('mayfly-mcp/cloudflare').DurableObjectNamespace
    readonly EVENTS_TOKEN: string | undefined
    readonly TASKS: import('mayfly-mcp/cloudflare').DurableObjectNamespace
    readonly ALARMS: import('mayfly-mcp/cloudflare').DurableObjectNamespace
    readonly TASK_QUEUE: import('mayfly-mcp/cloudflare').TaskQueue
    readonly TASK_WORKFLOW: import('mayfly-mcp/cloudflare').TaskWorkflow
    readonly DATABASE_URL: string
  }
  export abstract class WorkflowEntrypoint {
    protected readonly env: typeof env
  }
}
