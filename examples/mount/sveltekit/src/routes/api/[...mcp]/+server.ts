/** A SvelteKit endpoint for /api/mcp and what is below it, such as /api/mcp/healthz. */
import { server } from '../../../../../server.ts'

/** The part of SvelteKit's `RequestEvent` that is needed; `platform` is what its adapter provides. */
interface Event {
  request: Request
  platform?: { env?: unknown }
}

/** Answers every method, as SvelteKit calls it where there is no handler of that name. */
export const fallback = ({ request, platform }: Event): Promise<Response> =>
  server.fetch(request, platform?.env)
