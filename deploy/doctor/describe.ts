/** Run as `describe.ts <bundle>`: loads a built server and prints, as one line of JSON, what it is configured with. */
import { pathToFileURL } from 'node:url'
import type { DeploymentInfo } from '../../src/index.ts'

export interface Description {
  /** Undefined for a server that was not written with Mayfly. */
  readonly info: DeploymentInfo | undefined
  readonly tools: number | undefined
  /** Why no request could be served: what is wrong with a tool, resource or prompt. */
  readonly fault?: string | undefined
}

interface Described {
  getDeploymentInfo?(): DeploymentInfo
  getToolListInfo?(): { tools: unknown[] }
}

const { default: server } = (await import(pathToFileURL(process.argv[2] ?? '').href)) as {
  default: Described | undefined
}
process.stdout.write(`\n${JSON.stringify(describe())}\n`)
process.exit(0)

function describe(): Description {
  const info = server?.getDeploymentInfo?.()
  try {
    return { info, tools: server?.getToolListInfo?.().tools.length }
  } catch (error) {
    return { info, tools: undefined, fault: String(error instanceof Error ? error.message : error) }
  }
}
