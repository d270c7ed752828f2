/** Run as `describe.ts <bundle>`: loads a built server and prints, as one line of JSON, what it is configured with. */
import { pathToFileURL } from 'node:url'
import type { DeploymentInfo } from '../../src/index.ts'

export interface Description {
  /** Undefined for a server that was not written with Mayfly. */
  readonly info: DeploymentInfo | undefined
  readonly tools: number | undefined
}

interface Described {
  getDeploymentInfo?(): DeploymentInfo
  getToolListInfo?(): { tools: unknown[] }
}

const { default: server } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as {
  default: Described
}
const info = server.getDeploymentInfo?.()
const tools = server.getToolListInfo?.().tools.length
process.stdout.write(`\n${JSON.stringify({ info, tools } satisfies Description)}\n`)
process.exit(0)
