/** Where a secret may show while a platform's tool runs: its output, the process list, and files that it leaves. */
import { randomBytes } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DeployProject, Output } from './_project.ts'

/** In each value, however it is quoted. Another test file, which may run beside this one, has another. */
const MARK = randomBytes(6).toString('hex')

/** What shells, `.env` readers and printers of tables trip over. */
const values = {
  API_KEY: `sk-$HOME-\`id\`-"quoted"-#x-${MARK}`,
  PRIVATE_KEY: `-----BEGIN KEY-----\nMIIB${MARK}\n-----END KEY-----`,
  FLAG_LIKE: `--prod=$(id)-${MARK}`,
}

export const HOSTILE_SECRETS = { values, names: Object.keys(values) as (keyof typeof values)[] }

export interface Watched extends Output {
  /** Where a value was seen, one line each. */
  readonly leaks: readonly string[]
}

const POLL_MS = 15

/**
 * Processes whose variables may hold them: ours loads the user's server with the variables that it has everywhere, and wrangler
 * takes the project's `.env` into its own, which its bundler inherits.
 */
const HAS_ENV_FILE = /doctor\/describe\.[jt]s|wrangler|@esbuild/

/**
 * Writes the values into the project's `.env` and runs `act` with a TMPDIR of its own. Looks meanwhile at the arguments and the
 * environment of every process that can be seen, and afterwards at every file of the project and of TMPDIR.
 */
export async function withWatch(
  project: DeployProject,
  act: (env: Record<string, string>) => Promise<Output>,
): Promise<Watched> {
  const tmp = join(project.folder, 'tmp')
  mkdirSync(tmp)
  const lines = Object.entries(values).map(([name, value]) => `${name}='${value}'\n`)
  project.write('.env', lines.join(''))
  const leaks = new Set<string>()
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const line = read(`/proc/${pid}/cmdline`)
      // It is just being started, with the variables of another: it is looked at again.
      if (line === '') continue
      if (isTold(line)) leaks.add(`command line: ${line.slice(0, 80)}`)
      if (isTold(read(`/proc/${pid}/environ`)) && !HAS_ENV_FILE.test(line)) {
        leaks.add(`environment of ${line.slice(0, 80)}`)
      }
    }
  }, POLL_MS)
  try {
    const { code, output } = await act({ TMPDIR: tmp })
    if (isTold(output)) leaks.add('output')
    for (const file of filesOf(project.folder)) {
      if (file !== join(project.folder, '.env') && isTold(read(file))) leaks.add(`file: ${file}`)
    }
    return { code, output, leaks: [...leaks] }
  } finally {
    clearInterval(timer)
  }
}

function isTold(text: string): boolean {
  return text.includes(MARK)
}

/** Without what is linked: packages. */
function filesOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesOf(path)
    return entry.isFile() ? [path] : []
  })
}

/** Empty for what is gone or somebody else's. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
