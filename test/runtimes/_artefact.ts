/** Builds an entry as `mayfly build` does, and serves the very artefact on the platform's own runtime and a free port. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startPreview } from '../../deploy/commands/preview.ts'
import type { Project, Target } from '../../deploy/contract/target.ts'
import { buildInto } from '../../deploy/targets/build-into.ts'
import { testPort } from '../_port.ts'
import type { Served } from '../contract/contract.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export interface ServedArtefact extends Served {
  /** What was built. */
  readonly outDir: string
  readonly project: Project
}

/** The same target, run with these environment variables. */
export function withEnv(
  target: Pick<Target, 'build' | 'preview'>,
  env: { readonly [name: string]: string },
): Pick<Target, 'build' | 'preview'> {
  return {
    ...target,
    preview: (outDir, options) => {
      const launch = target.preview(outDir, options)
      return { ...launch, env: { ...launch.env, ...env } }
    },
  }
}

/**
 * Resolves once it answers. `cwd` is where the platform's configuration is; `entry` is relative to it. `at`: the port, for a server that
 * has to know its address. Default: a free one.
 */
export async function serveArtefact(
  entry: string,
  target: Pick<Target, 'build' | 'preview'>,
  cwd: string = ROOT,
  name = 'contract',
  at?: number,
): Promise<ServedArtefact> {
  const folder = mkdtempSync(join(tmpdir(), 'mayfly-artefact-'))
  const outDir = join(folder, 'out')
  const log = join(folder, 'log.txt')
  const project = { cwd, entry: resolve(cwd, entry), name }
  await buildInto(target, project, outDir)
  const port = at ?? (await testPort())
  const output = openSync(log, 'w')
  const running = startPreview(target, project, outDir, { port, output })
  const stop = async (): Promise<void> => {
    await running.stop()
    closeSync(output)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    await running.ready
  } catch (cause) {
    const said = readFileSync(log, 'utf8')
    await stop()
    throw new Error(`${(cause as Error).message}\n${said}`, { cause })
  }
  return { url: new URL(`http://127.0.0.1:${port}${running.path ?? '/mcp'}`), outDir, project, stop }
}
