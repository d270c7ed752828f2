/** A Next.js route handler for /api/mcp and what is below it, such as /api/mcp/healthz. */
import { server } from '../../../../server.ts'

// Not `POST = server.fetch`: Next.js passes the route's parameters second, where `fetch` takes the environment.
const handle = (request: Request): Promise<Response> => server.fetch(request, process.env)

export { handle as DELETE, handle as GET, handle as OPTIONS, handle as POST }
