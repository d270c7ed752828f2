/** The variables that options of `check` and `inspect` name, such as `--bearer-env API_TOKEN`. */
import { join } from 'node:path'
import { isLoopback } from '../../src/client/allowed-urls.ts'
import { readEnvFiles } from '../project/env-files.ts'
import { chooseStage } from '../project/stages.ts'
import { deploymentFiles, localFiles } from '../project/variable-files.ts'

/**
 * Of the environment, otherwise of the files in this folder and above: those of a server on this machine for its URL, and those of a deployed
 * one for another. Only a name that the user has typed is looked up, and its value goes to the server of the URL alone.
 */
export function namedVariable(server: URL, cwd = process.cwd()): (name: string) => string | undefined {
  return (name) => {
    const own = Object.hasOwn(process.env, name) ? process.env[name] : undefined
    if (own !== undefined) return own
    const stage = chooseStage(undefined)
    const files = isLoopback(server) ? localFiles(stage) : deploymentFiles(stage)
    const { variables } = readEnvFiles({ cwd, entry: join(cwd, 'server'), stage }, files)
    return Object.hasOwn(variables, name) ? variables[name] : undefined
  }
}
