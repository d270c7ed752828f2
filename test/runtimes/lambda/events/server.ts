/** In a folder whose package.json declares a queue and a schedule. */
export { default, queue } from '../../mcp-events/_lambda-server.ts'
