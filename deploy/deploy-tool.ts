/** A platform's own tool: where it is, and how it is run. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { CliError } from './cli-error.ts'
import { findProgram, resolveBin } from './project-tool.ts'
import { type Deployment, type DeployStep, SECRET_FILE } from './target.ts'

/** The file to run. */
export type DeployTool = string

const LOGIN_TIMEOUT_MS = 30_000

/** The project's own, else the one on the PATH, else undefined. */
export function findTool({ name, npm }: Deployment['tool'], cwd: string): DeployTool | undefined {
  if (npm !== undefined) {
    try {
      return resolveBin(npm, cwd, name)
    } catch (error) {
      if (!(error instanceof CliError)) throw error
    }
  }
  return findProgram(name)
}

/** Whether there is a token in the environment, which the tool itself will judge, or the tool says so within 30 seconds. */
export async function isLoggedIn(
  tool: DeployTool,
  { tool: { whoami, token } }: Deployment,
  cwd: string,
): Promise<boolean> {
  if (process.env[token]) return true
  const signal = AbortSignal.timeout(LOGIN_TIMEOUT_MS)
  const child = spawn(tool, whoami, { cwd, env: environment(), stdio: 'ignore', signal })
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  } catch {
    // It could not be run, or took too long.
    return false
  }
}

/** Runs it in the foreground and resolves with its exit code. Throws `CliError` when there is no such program. */
export async function runStep(step: DeployStep, tool: DeployTool): Promise<number> {
  const { secretFile } = step
  if (secretFile === undefined) return run(step, step.args, tool)
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-'))
  const path = join(folder, 'secrets.env')
  writeFileSync(path, secretFile, { mode: 0o600 })
  try {
    const args = step.args.map((arg) => (arg === SECRET_FILE ? path : arg))
    return await run(step, args, tool)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function run(step: DeployStep, args: readonly string[], tool: DeployTool): Promise<number> {
  const command = step.command ?? tool
  const isPiped = step.stdin !== undefined
  // Node's own pipe is a socket, which a tool that opens /dev/stdin as a file cannot read: cat makes it a pipe.
  const child = spawn(
    isPiped ? 'sh' : command,
    isPiped ? ['-c', 'cat | "$0" "$@"', command, ...args] : args,
    {
      cwd: step.cwd,
      env: { ...environment(), ...step.env },
      stdio: [isPiped ? 'pipe' : 'inherit', 'inherit', 'inherit'],
    },
  )
  // A tool that ends without reading says why itself.
  child.stdin?.on('error', () => {})
  child.stdin?.end(step.stdin)
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CliError(`cannot run ${command} (${code}): install it, then deploy again`)
  }
}

/** The Node that runs this comes first: tools on npm find theirs by name, and some need a newer one than the machine's. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: [dirname(process.execPath), process.env.PATH].join(delimiter) }
}
